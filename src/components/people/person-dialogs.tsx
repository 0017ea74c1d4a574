import { useTranslation } from "react-i18next";
import { ConfirmDialog } from "#components/overlays/confirm-dialog.tsx";
import { isolate } from "#lib/text/bidi.ts";

/** Questions about a person or the conversation with them. They only ask: who shows them does the work. */
type Question = { name: string; busy?: boolean; onConfirm: () => void; onClose: () => void };

export function BlockDialog({ name, ...props }: Question) {
  const { t } = useTranslation();
  return (
    <ConfirmDialog
      open
      title={t("people.blockTitle", { name: isolate(name) })}
      body={t("people.blockBody")}
      confirmLabel={t("people.block")}
      cancelLabel={t("common.cancel")}
      {...props}
    />
  );
}

export function DeleteContactDialog({ name, ...props }: Question) {
  const { t } = useTranslation();
  return (
    <ConfirmDialog
      open
      title={t("contacts.deleteTitle", { name: isolate(name) })}
      body={t("contacts.deleteBody")}
      confirmLabel={t("common.delete")}
      cancelLabel={t("common.cancel")}
      {...props}
    />
  );
}

export function ClearDialog({ name, isGroup = false, ...props }: Question & { isGroup?: boolean }) {
  const { t } = useTranslation();
  return (
    <ConfirmDialog
      open
      title={t("chat.clearTitle")}
      body={t(isGroup ? "groups.chat.clearBody" : "chat.clearBody", { name: isolate(name) })}
      confirmLabel={t("chat.clearConfirm")}
      cancelLabel={t("common.cancel")}
      {...props}
    />
  );
}
