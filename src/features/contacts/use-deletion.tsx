import { useState } from "react";
import type { Uuid } from "../../../contract/ids";
import { ConfirmDialog } from "../../components/dialog";
import { showToast } from "../../components/toast";
import { useT } from "../../i18n/setup";
import { failureText } from "../../lib/failure-text";
import { isolate } from "../../lib/isolate";
import type { PersonRow } from "../../sync/store";
import { deleteContact } from "./delete-contact";

/** Deleting a contact: the question that names them, the work, and what came of it. */
export const useDeletion = () => {
  const t = useT();
  const [asked, setAsked] = useState<PersonRow>();
  const [underway, setUnderway] = useState<ReadonlySet<Uuid>>(new Set());

  const confirm = async (contact: PersonRow) => {
    setAsked(undefined);
    setUnderway((before) => new Set(before).add(contact.id));
    try {
      await deleteContact(contact.id);
      // The button that had the focus is gone with its row.
      if (document.activeElement === document.body) document.querySelector<HTMLElement>("[role=main] h1")?.focus();
      showToast({ message: t("contacts.contactDeleted") });
    } catch (error) {
      showToast({ title: t("contacts.deleteContactError"), message: failureText(error, t), tone: "danger" });
    } finally {
      setUnderway((before) => {
        const after = new Set(before);
        after.delete(contact.id);
        return after;
      });
    }
  };

  const dialog = asked && (
    <ConfirmDialog
      open
      title={t("contacts.deleteTitle", { name: isolate(asked.username || asked.phone) })}
      body={t("contacts.deleteBody")}
      confirmLabel={t("common.delete")}
      cancelLabel={t("common.cancel")}
      onConfirm={() => void confirm(asked)}
      onClose={() => setAsked(undefined)}
    />
  );
  return { underway, ask: setAsked, dialog };
};
