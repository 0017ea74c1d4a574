import { useState } from "react";
import { useTranslation } from "react-i18next";
import { ConfirmDialog } from "#components/overlays/confirm-dialog.tsx";
import { showToast } from "#components/overlays/toast.tsx";
import { isolateBidi } from "#lib/text/bidi.ts";
import { hideConversation, SyncError } from "#sync/actions.ts";
import type { ConversationListItem } from "#sync/hooks/use-live-query.ts";
import { getConversationName } from "./conversation-name.ts";

/** Asks, then takes the conversation out of this person's view. The dialog closes either way (SPEC.md §4). */
export function DeleteConversationDialog({ item, onClose }: { item: ConversationListItem; onClose: () => void }) {
  const { t } = useTranslation();
  const [busy, setBusy] = useState(false);
  const name = isolateBidi(getConversationName(item, t));

  const hide = async () => {
    setBusy(true);
    try {
      await hideConversation(item.id);
      showToast({ message: t("masolo.conversationDeleted") });
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
        item.kind === "group" ? (item.gone ? "groups.chat.leftBody" : "groups.chat.deleteBody") : "masolo.deleteBody",
        { name },
      )}
      confirmLabel={t("common.delete")}
      cancelLabel={t("common.cancel")}
      busy={busy}
      onConfirm={hide}
      onClose={onClose}
    />
  );
}
