import { useState } from "react";
import { useTranslation } from "react-i18next";
import { restoreLostFocus } from "#components/focus/title-focus.ts";
import { announceResult, showToast } from "#components/overlays/toast.tsx";
import { DeleteContactDialog } from "#components/people/person-dialogs.tsx";
import { toNameOrNumber } from "#components/people/person-name.ts";
import type { Uuid } from "#contract/ids.ts";
import { toErrorText } from "#lib/http/error-text.ts";
import { deleteContact } from "#sync/actions/contacts.ts";
import type { PersonRow } from "#sync/store/database.ts";

/** Deletion of a contact: confirmation dialog, request and result. */
export const useContactDeletion = () => {
  const { t } = useTranslation();
  const [contactToConfirm, setContactToConfirm] = useState<PersonRow>();
  const [deletingIds, setDeletingIds] = useState<ReadonlySet<Uuid>>(new Set());

  const confirm = async (contact: PersonRow) => {
    setContactToConfirm(undefined);
    setDeletingIds((before) => new Set(before).add(contact.id));
    try {
      await deleteContact(contact.id);
      restoreLostFocus();
      announceResult(t("contacts.contactDeleted"));
    } catch (error) {
      showToast({ title: t("contacts.deleteContactError"), message: toErrorText(error, t), tone: "danger" });
    } finally {
      setDeletingIds((before) => {
        const after = new Set(before);
        after.delete(contact.id);
        return after;
      });
    }
  };

  const dialog = contactToConfirm && (
    <DeleteContactDialog
      name={toNameOrNumber(contactToConfirm)}
      onConfirm={() => void confirm(contactToConfirm)}
      onClose={() => setContactToConfirm(undefined)}
    />
  );
  return { deletingIds, ask: setContactToConfirm, dialog };
};
