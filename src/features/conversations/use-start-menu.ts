// @unocss-include – the icons below are CSS classes, and UnoCSS scans only component files by default.
import { useTranslation } from "react-i18next";
import { useNavigate } from "react-router";
import type { MenuItem } from "#components/overlays/menu.tsx";

/** Items of the menu that starts a conversation, with the way to the starred messages. */
export const useStartMenu = (onOpen: (sheet: "chat" | "broadcast") => void): MenuItem[] => {
  const { t } = useTranslation();
  const navigate = useNavigate();
  return [
    { id: "chat", label: t("masolo.newChat"), icon: "i-ph-chat-circle-dots", onSelect: () => onOpen("chat") },
    {
      id: "group",
      label: t("masolo.newGroup"),
      icon: "i-ph-users-three",
      onSelect: () => navigate("/app/create-group"),
    },
    { id: "broadcast", label: t("masolo.broadcast"), icon: "i-ph-megaphone", onSelect: () => onOpen("broadcast") },
    { id: "starred", label: t("starred.title"), icon: "i-ph-star", onSelect: () => navigate("/app/starred") },
  ];
};
