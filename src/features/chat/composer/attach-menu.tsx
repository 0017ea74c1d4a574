import type { RefObject } from "react";
import { useTranslation } from "react-i18next";
import MenuPopup, { type MenuAnchor } from "#components/overlays/menu-popup.tsx";
import { openFileDialog } from "./open-file-dialog.ts";

type AttachMenuProps = {
  anchor: MenuAnchor;
  /** File input outside of the menu, because the choice takes longer than the menu is open. */
  input: RefObject<HTMLInputElement | null>;
  onCamera: () => void;
  onClose: () => void;
};

/** Menu of what can be attached to a message: files, images and photos. */
export default function AttachMenu({ anchor, input, onCamera, onClose }: AttachMenuProps) {
  const { t } = useTranslation();
  // Prefers the built-in camera sheet: a phone with little memory may kill this page while a camera app is in front.
  // Falls back to the camera app in browsers without `mediaDevices`.
  const openCamera = () => {
    if ("mediaDevices" in navigator) onCamera();
    else openFileDialog(input, "image/*", "environment");
  };
  return (
    <MenuPopup
      label={t("chat.attach.menu")}
      anchor={anchor}
      items={[
        { id: "file", label: t("chat.attach.file"), icon: "i-ph-paperclip", onSelect: () => openFileDialog(input) },
        {
          id: "image",
          label: t("chat.attach.image"),
          icon: "i-ph-image",
          onSelect: () => openFileDialog(input, "image/*"),
        },
        { id: "camera", label: t("chat.attach.camera"), icon: "i-ph-camera", onSelect: openCamera },
      ]}
      onClose={onClose}
    />
  );
}
