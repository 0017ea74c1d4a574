import { useCallback, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { getConversationName } from "#components/messages/conversation-name.ts";
import { lazyIdleOverlay } from "#components/overlays/lazy-overlay.tsx";
import { runWithToast } from "#components/overlays/run-with-toast.ts";
import { LazyClearHistoryDialog, MuteDialog } from "#components/people/lazy-dialogs.ts";
import { clearConversation, muteConversation } from "#sync/actions/conversations.ts";
import type { ConversationListItem } from "#sync/hooks/use-conversations.ts";

const DeleteConversationDialog = lazyIdleOverlay(() => import("./delete-conversation-dialog.tsx"));

type ConfirmedAction = "clear" | "delete" | "mute";

export type ConversationMenu = {
  /** Opens the dialog before a conversation is cleared, deleted or muted. */
  confirm: (action: ConfirmedAction, item: ConversationListItem) => void;
};

/** Dialogs of the menus of the conversation list. `menu` has a stable identity. */
export const useConversationMenu = () => {
  const { t } = useTranslation();
  const [confirmation, setConfirmation] = useState<{ action: ConfirmedAction; item: ConversationListItem }>();
  const [isClearing, setClearing] = useState(false);
  const close = useCallback(() => setConfirmation(undefined), []);

  const clear = async (item: ConversationListItem) => {
    setClearing(true);
    await runWithToast(() => clearConversation(item.id), {
      announced: t("chat.cleared"),
      failed: t("chat.clearFailed"),
    });
    setClearing(false);
    close();
  };
  const dialog = confirmation && (
    <>
      {confirmation.action === "clear" && (
        <LazyClearHistoryDialog
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
          exceptsMentions={confirmation.item.mutedExceptMentions}
          onChoose={(mute, texts) => void runWithToast(() => muteConversation(confirmation.item.id, true, mute), texts)}
          onClose={close}
        />
      )}
      {confirmation.action === "delete" && <DeleteConversationDialog item={confirmation.item} onClose={close} />}
    </>
  );
  const menu = useMemo<ConversationMenu>(() => ({ confirm: (action, item) => setConfirmation({ action, item }) }), []);
  return { menu, dialog };
};
