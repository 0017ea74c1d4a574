import { useTranslation } from "react-i18next";
import { ConfirmDialog } from "#components/overlays/confirm-dialog.tsx";

type DiscardAttachmentsDialogProps = {
  count: number;
  /** A file may exist nowhere else. */
  hasOnlyCopy: boolean;
  onConfirm: () => void;
  onClose: () => void;
};

/** Confirmation before the chosen files and their captions are discarded. */
export function DiscardAttachmentsDialog({ count, hasOnlyCopy, ...props }: DiscardAttachmentsDialogProps) {
  const { t } = useTranslation();
  return (
    <ConfirmDialog
      open
      title={t("chat.attach.discardTitle", { count })}
      body={t(hasOnlyCopy ? "chat.attach.discardOnlyCopy" : "chat.attach.discardBody", { count })}
      confirmLabel={t("chat.attach.discardConfirm")}
      cancelLabel={t("chat.attach.discardStay")}
      {...props}
    />
  );
}
