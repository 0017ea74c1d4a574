import { useTranslation } from "react-i18next";
import { ConfirmDialog } from "#components/overlays/confirm-dialog.tsx";
import { isolateBidi } from "#lib/text/bidi.ts";

/** Confirmation dialogs about a person or the conversation with them. The caller performs the action. */
type PersonDialogProps = { name: string; busy?: boolean; onConfirm: () => void; onClose: () => void };

export function BlockPersonDialog({ name, ...props }: PersonDialogProps) {
  const { t } = useTranslation();
  return (
    <ConfirmDialog
      open
      title={t("people.blockTitle", { name: isolateBidi(name) })}
      body={t("people.blockBody")}
      confirmLabel={t("people.block")}
      cancelLabel={t("common.cancel")}
      {...props}
    />
  );
}

export function DeleteContactDialog({ name, ...props }: PersonDialogProps) {
  const { t } = useTranslation();
  return (
    <ConfirmDialog
      open
      title={t("contacts.deleteTitle", { name: isolateBidi(name) })}
      body={t("contacts.deleteBody")}
      confirmLabel={t("common.delete")}
      cancelLabel={t("common.cancel")}
      {...props}
    />
  );
}

/** Deletes the history of a group that this person left: the server keeps nothing of it for them. */
export function DeleteLeftGroupDialog({ name, ...props }: PersonDialogProps) {
  const { t } = useTranslation();
  return (
    <ConfirmDialog
      open
      title={t("masolo.deleteTitle")}
      body={t("groups.chat.deleteLeftBody", { name: isolateBidi(name) })}
      confirmLabel={t("common.delete")}
      cancelLabel={t("common.cancel")}
      {...props}
    />
  );
}

export function ClearHistoryDialog({ name, isGroup = false, ...props }: PersonDialogProps & { isGroup?: boolean }) {
  const { t } = useTranslation();
  return (
    <ConfirmDialog
      open
      title={t("chat.clearTitle")}
      body={t(isGroup ? "groups.chat.clearBody" : "chat.clearBody", { name: isolateBidi(name) })}
      confirmLabel={t("chat.clearConfirm")}
      cancelLabel={t("common.cancel")}
      {...props}
    />
  );
}
