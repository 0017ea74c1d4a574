// @lazy-icons
import { useCallback, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { getConversationName } from "#components/messages/conversation-name.ts";
import type { MenuItem } from "#components/overlays/menu.tsx";
import { runWithToast } from "#components/overlays/run-with-toast.ts";
import { MuteDialog } from "#components/people/lazy-mute-dialog.ts";
import { toUnmuteLabel } from "#components/people/mute-texts.ts";
import { ClearHistoryDialog } from "#components/people/person-dialogs.tsx";
import { clearConversation, markReadUpTo, muteConversation } from "#sync/actions.ts";
import type { ConversationListItem } from "#sync/hooks/use-conversations.ts";
import { DeleteConversationDialog } from "./delete-conversation-dialog.tsx";

export type ConversationMenu = {
  getItems: (item: ConversationListItem) => MenuItem[];
  /** Opens the confirmation before a conversation is deleted. */
  confirmDelete: (item: ConversationListItem) => void;
};

type OpenConfirmation = { action: "clear" | "delete" | "mute"; item: ConversationListItem };

/** Menu of the rows of the conversation list, with its confirmation dialogs. `menu` has a stable identity. */
export const useConversationMenu = () => {
  const { t } = useTranslation();
  const [confirmation, setConfirmation] = useState<OpenConfirmation>();
  const [isClearing, setClearing] = useState(false);
  const close = useCallback(() => setConfirmation(undefined), []);
  const confirmDelete = useCallback((item: ConversationListItem) => setConfirmation({ action: "delete", item }), []);

  const getMemberItems = useCallback(
    (item: ConversationListItem): MenuItem[] => [
      {
        id: "mute",
        label: item.muted ? toUnmuteLabel(item.mutedUntil, t) : t("mute.on"),
        icon: item.muted ? "i-ph-bell" : "i-ph-bell-slash",
        onSelect: () =>
          item.muted
            ? void runWithToast(() => muteConversation(item.id, false), {
                done: t("mute.isOff"),
                failed: t("mute.failed"),
              })
            : setConfirmation({ action: "mute", item }),
      },
      ...(item.muted
        ? [
            {
              id: "muteLength",
              label: t("mute.change"),
              icon: "i-ph-bell-slash",
              onSelect: () => setConfirmation({ action: "mute", item }),
            },
          ]
        : []),
      {
        id: "clear",
        label: t("chat.clear"),
        icon: "i-ph-broom",
        onSelect: () => setConfirmation({ action: "clear", item }),
      },
    ],
    [t],
  );
  const getItems = useCallback(
    (item: ConversationListItem): MenuItem[] => [
      ...(item.unread > 0
        ? [
            {
              id: "read",
              label: t("masolo.markRead"),
              icon: "i-ph-checks",
              onSelect: () => markReadUpTo(item.id, Number.MAX_SAFE_INTEGER),
            },
          ]
        : []),
      // A group that was left contains only unsent content.
      ...(item.gone ? [] : getMemberItems(item)),
      {
        id: "delete",
        label: t("masolo.delete"),
        icon: "i-ph-trash",
        tone: "danger",
        onSelect: () => confirmDelete(item),
      },
    ],
    [t, confirmDelete, getMemberItems],
  );

  const clear = async (item: ConversationListItem) => {
    setClearing(true);
    await runWithToast(() => clearConversation(item.id), { done: t("chat.cleared"), failed: t("chat.clearFailed") });
    setClearing(false);
    close();
  };
  const dialog = confirmation && (
    <>
      {confirmation.action === "clear" && (
        <ClearHistoryDialog
          name={getConversationName(confirmation.item, t)}
          isGroup={confirmation.item.kind === "group"}
          busy={isClearing}
          onConfirm={() => void clear(confirmation.item)}
          onClose={close}
        />
      )}
      {confirmation.action === "mute" && (
        <MuteDialog
          isGroup={confirmation.item.kind === "group"}
          onChoose={(mute, texts) => void runWithToast(() => muteConversation(confirmation.item.id, true, mute), texts)}
          onClose={close}
        />
      )}
      {confirmation.action === "delete" && <DeleteConversationDialog item={confirmation.item} onClose={close} />}
    </>
  );
  const menu = useMemo<ConversationMenu>(() => ({ getItems, confirmDelete }), [getItems, confirmDelete]);
  return { menu, dialog };
};
