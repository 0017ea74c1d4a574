import { useState } from "react";
import { useTranslation } from "react-i18next";
import { restoreLostFocus } from "#components/focus/title-focus.ts";
import { showToast } from "#components/overlays/toast.tsx";
import { DeleteContactDialog } from "#components/people/person-dialogs.tsx";
import type { Uuid } from "#contract/ids.ts";
import { toErrorText } from "#lib/http/error-text.ts";
import { deleteContact } from "#sync/people/contact-commands.ts";
import type { PersonRow } from "#sync/store/database.ts";

/** Deleting a contact: the question that names them, the work, and what came of it. */
export const useContactDeletion = () => {
  const { t } = useTranslation();
  const [asked, setAsked] = useState<PersonRow>();
  const [underway, setUnderway] = useState<ReadonlySet<Uuid>>(new Set());

  const confirm = async (contact: PersonRow) => {
    setAsked(undefined);
    setUnderway((before) => new Set(before).add(contact.id));
    try {
      await deleteContact(contact.id);
      restoreLostFocus();
      showToast({ message: t("contacts.contactDeleted") });
    } catch (error) {
      showToast({ title: t("contacts.deleteContactError"), message: toErrorText(error, t), tone: "danger" });
    } finally {
      setUnderway((before) => {
        const after = new Set(before);
        after.delete(contact.id);
        return after;
      });
    }
  };

  const dialog = asked && (
    <DeleteContactDialog
      name={asked.username || asked.phone}
      onConfirm={() => void confirm(asked)}
      onClose={() => setAsked(undefined)}
    />
  );
  return { underway, ask: setAsked, dialog };
};
