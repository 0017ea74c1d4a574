import { useTranslation } from "react-i18next";
import { ConfirmDialog } from "#components/overlays/confirm-dialog.tsx";

/** Confirmation before the chosen files and their captions are discarded. */
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
