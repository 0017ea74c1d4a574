import { useTranslation } from "react-i18next";
import { ConfirmDialog } from "#components/overlays/confirm-dialog.tsx";

type DiscardAttachmentsDialogProps = {
  /** A file may exist nowhere else. */
  hasOnlyCopy: boolean;
  onConfirm: () => void;
  onClose: () => void;
};

/** Confirmation before the chosen files and their captions are discarded. */
export function DiscardAttachmentsDialog({ hasOnlyCopy, ...props }: DiscardAttachmentsDialogProps) {
  const { t } = useTranslation();
  return (
    <ConfirmDialog
      open
      title={t("chat.attach.discardTitle")}
      body={t(hasOnlyCopy ? "chat.attach.discardOnlyCopy" : "chat.attach.discardBody")}
      confirmLabel={t("chat.attach.discardConfirm")}
      cancelLabel={t("chat.attach.discardStay")}
      {...props}
    />
  );
}
