import { useTranslation } from "react-i18next";
import { ConfirmDialog } from "#components/overlays/confirm-dialog.tsx";

/** Asks before chosen files and what was written to them are given up. */
export function DiscardAttachmentsDialog(props: { onConfirm: () => void; onClose: () => void }) {
  const { t } = useTranslation();
  return (
    <ConfirmDialog
      open
      title={t("chat.attach.discardTitle")}
      body={t("chat.attach.discardBody")}
      confirmLabel={t("chat.attach.discardConfirm")}
      cancelLabel={t("chat.attach.discardStay")}
      {...props}
    />
  );
}
