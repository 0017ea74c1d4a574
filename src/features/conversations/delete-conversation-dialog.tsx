import { useState } from "react";
import { useTranslation } from "react-i18next";
import { getConversationName } from "#components/messages/conversation-name.ts";
import { ConfirmDialog } from "#components/overlays/confirm-dialog.tsx";
import { announceResult, showToast } from "#components/overlays/toast.tsx";
import { hasLeftGroup } from "#contract/conversations.ts";
import { isolateBidi } from "#lib/text/bidi.ts";
import { hideConversation } from "#sync/actions/conversations.ts";
import type { ConversationListItem } from "#sync/hooks/use-conversations.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import { keepFocusAfterRemoval } from "./row-removal-focus.ts";

/** Confirmation that deletes a conversation for this user only. The dialog closes whatever the result. */
export default function DeleteConversationDialog({
  item,
  onClose,
}: {
  item: ConversationListItem;
  onClose: () => void;
}) {
  const { t } = useTranslation();
  const [busy, setBusy] = useState(false);
  const name = isolateBidi(getConversationName(item, t));

  const deleteConversation = async () => {
    setBusy(true);
    keepFocusAfterRemoval(item);
    try {
      await hideConversation(item.id);
      announceResult(t("masolo.conversationDeleted"));
    } catch (error) {
      const code = error instanceof SyncError ? error.code : "internal";
      showToast({ tone: "danger", title: t("common.error"), message: t(`errors.${code}`) });
    }
    onClose();
  };

  return (
    <ConfirmDialog
      open
      title={t("masolo.deleteTitle")}
      body={t(
        item.kind !== "group"
          ? "masolo.deleteBody"
          : item.gone
            ? "groups.chat.leftBody"
            : hasLeftGroup(item)
              ? "groups.chat.deleteLeftBody"
              : "groups.chat.deleteBody",
        { name },
      )}
      confirmLabel={t("common.delete")}
      cancelLabel={t("common.cancel")}
      busy={busy}
      onConfirm={deleteConversation}
      onClose={onClose}
    />
  );
}
