import { useState } from "react";
import { useTranslation } from "react-i18next";
import { ConfirmDialog } from "#components/overlays/confirm-dialog.tsx";
import { announceResult, showToast } from "#components/overlays/toast.tsx";
import { hasLeftGroup } from "#contract/conversations.ts";
import type { ConversationId } from "#contract/ids.ts";
import { mayDeleteMessage } from "#contract/messages/deletion.ts";
import { type ChatPeople, getSenderName } from "#features/chat/message/senders.ts";
import { isolateBidi } from "#lib/text/bidi.ts";
import { deleteForSelf, deleteMessageForEveryone, deleteUnsentMessage } from "#sync/actions/message-actions.ts";
import type { ChatItem } from "#sync/hooks/use-chat.ts";
import { useConversation } from "#sync/hooks/use-conversations.ts";
import { asSyncError } from "#sync/platform/sync-error.ts";

type DeleteMessageDialogProps = {
  conversation: ConversationId;
  people: ChatPeople;
  item: ChatItem;
  onDeleted: () => void;
  onClose: () => void;
};

/** Asks whether to delete a message, for everyone where that is allowed, or for oneself only. */
export function DeleteMessageDialog({ conversation, people, item, onDeleted, onClose }: DeleteMessageDialogProps) {
  const { t } = useTranslation();
  const [isBusy, setBusy] = useState(false);
  const { seq, cid, mine, sender } = item;
  const view = useConversation(conversation);
  const isFormerMember = view !== undefined && hasLeftGroup(view);
  const mayDelete = !isFormerMember && mayDeleteMessage(mine, view?.group?.role);
  const isOwnerDeleting = mayDelete && !mine;
  const canDeleteForAll = mayDelete && seq !== undefined;
  const deleteMessage = async (isForSelf: boolean) => {
    setBusy(true);
    try {
      if (seq !== undefined) await (isForSelf ? deleteForSelf : deleteMessageForEveryone)(conversation, seq);
      else if (cid !== undefined) await deleteUnsentMessage(conversation, cid);
      announceResult(t("messages.deletedDone"));
      onDeleted();
    } catch (error) {
      const isOffline = asSyncError(error).code === "offline";
      const message = t(isOffline ? "errors.offline" : "messages.deleteFailed");
      showToast({ tone: "danger", title: t("common.error"), message });
    }
    onClose();
  };
  return (
    <ConfirmDialog
      open
      title={t(seq === undefined ? "messages.deleteUnsentTitle" : "messages.deleteTitle")}
      body={
        isOwnerDeleting
          ? t("messages.deleteOfMemberBody", { name: isolateBidi(getSenderName(people, sender, t)) })
          : t(
              seq === undefined
                ? "messages.deleteUnsentBody"
                : mine && !isFormerMember
                  ? "messages.deleteBody"
                  : "messages.deleteForSelfBody",
            )
      }
      confirmLabel={t(
        seq === undefined ? "common.delete" : canDeleteForAll ? "messages.deleteForAll" : "messages.deleteForSelf",
      )}
      alternative={
        canDeleteForAll ? { label: t("messages.deleteForSelf"), onConfirm: () => void deleteMessage(true) } : undefined
      }
      cancelLabel={t("common.cancel")}
      busy={isBusy}
      onConfirm={() => void deleteMessage(!canDeleteForAll)}
      onClose={onClose}
    />
  );
}
