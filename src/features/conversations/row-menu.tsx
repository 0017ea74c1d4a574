import { useContext } from "react";
import { useTranslation } from "react-i18next";
import { useNavigate } from "react-router";
import { WindowPathContext } from "#components/layout/screen.tsx";
import { getConversationName, toConversationPath } from "#components/messages/conversation-name.ts";
import type { MenuAnchor, MenuItem } from "#components/overlays/menu.tsx";
import MenuPopup from "#components/overlays/menu-popup.tsx";
import { runWithToast } from "#components/overlays/run-with-toast.ts";
import { toUnmuteLabel } from "#components/people/mute-texts.ts";
import { hasLeftGroup } from "#contract/conversations.ts";
import { muteConversation } from "#sync/actions/conversations.ts";
import type { ConversationListItem } from "#sync/hooks/use-conversations.ts";
import { type FlagAction, runFlagAction } from "./flag-actions.ts";
import { keepFocusAfterRemoval } from "./row-removal-focus.ts";
import type { ConversationMenu } from "./use-conversation-menu.tsx";

type RowMenuProps = { item: ConversationListItem; menu: ConversationMenu; anchor: MenuAnchor; onClose: () => void };

/** Items that mark a conversation as read or unread, pin it and archive it. */
const useFlagItems = (item: ConversationListItem): MenuItem[] => {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const openPath = useContext(WindowPathContext);
  const toItem = (action: FlagAction, label: string, icon: string): MenuItem => ({
    id: action,
    label,
    icon,
    onSelect: () => {
      // Marking the open chat as unread leaves it, since an open chat is read.
      const path = toConversationPath(item);
      const isOpen = openPath === path || openPath.startsWith(`${path}/`);
      if (action === "unread" && isOpen) void navigate("/app");
      keepFocusAfterRemoval(item); // from the list, or from the filtered one
      void runFlagAction(action, item);
    },
  });
  return [
    item.unread > 0 || item.marked
      ? toItem("read", t("masolo.markRead"), "i-ph-checks")
      : toItem("unread", t("masolo.markUnread"), "i-ph-chat-circle-dots"),
    item.pinned
      ? toItem("unpin", t("masolo.unpin"), "i-ph-push-pin-slash")
      : toItem("pin", t("masolo.pin"), "i-ph-push-pin"),
    item.archived
      ? toItem("unarchive", t("masolo.unarchive"), "i-ph-archive")
      : toItem("archive", t("masolo.archive"), "i-ph-archive"),
  ];
};

/** Menu of a row of the conversation list. */
export default function RowMenu({ item, menu, anchor, onClose }: RowMenuProps) {
  const { t } = useTranslation();
  const { confirm } = menu;
  const flagItems = useFlagItems(item);
  const muteItems: MenuItem[] = [
    {
      id: "mute",
      label: item.muted ? toUnmuteLabel(item.mutedUntil, t) : t("mute.on"),
      icon: item.muted ? "i-ph-bell" : "i-ph-bell-slash",
      onSelect: () =>
        item.muted
          ? void runWithToast(() => muteConversation(item.id, false), {
              announced: t("mute.isOff"),
              failed: t("mute.failed"),
            })
          : confirm("mute", item),
    },
    ...(item.muted
      ? [
          {
            id: "muteLength",
            label: t("mute.change"),
            icon: "i-ph-bell-slash",
            onSelect: () => confirm("mute", item),
          },
        ]
      : []),
  ];
  const clear: MenuItem = {
    id: "clear",
    label: t("chat.clear"),
    icon: "i-ph-broom",
    onSelect: () => confirm("clear", item),
  };
  return (
    <MenuPopup
      label={t("masolo.rowActions", { name: getConversationName(item, t) })}
      anchor={anchor}
      items={[
        // A group that is gone contains only unsent content, and one that was left gets no messages.
        ...(item.gone ? [] : [...flagItems, ...(hasLeftGroup(item) ? [] : muteItems), clear]),
        {
          id: "delete",
          label: t("masolo.delete"),
          icon: "i-ph-trash",
          tone: "danger",
          onSelect: () => confirm("delete", item),
        },
      ]}
      onClose={onClose}
    />
  );
}
