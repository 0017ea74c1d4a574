import { Link } from "react-router";
import { IconButton } from "../../components/icon-button";
import { IconLink } from "../../components/icon-link";
import { PersonLine } from "../../components/person-line";
import { useT } from "../../i18n/setup";
import type { PersonRow } from "../../sync/store";

/** The height of a row in pixels: the list counts on it. */
export const contactRowPx = 74;

type ContactRowProps = { contact: PersonRow; isDeleting: boolean; onDelete: (contact: PersonRow) => void };

/** A contact: the row opens the chat, its buttons the profile and the deletion. */
export function ContactRow({ contact, isDeleting, onDelete }: ContactRowProps) {
  const t = useT();
  const name = contact.username || contact.phone;
  return (
    <div className="flex items-center border-b border-line pr-2" style={{ height: contactRowPx }}>
      <Link
        to={`/app/chat/${contact.id}`}
        className="flex h-full min-w-0 flex-1 items-center pl-4 -outline-offset-3 hover:bg-raised"
      >
        <PersonLine person={contact} />
      </Link>
      <IconLink to={`/app/user/${contact.id}`} icon="i-ph-user-circle" label={t("contacts.viewProfile", { name })} />
      <IconButton
        icon={isDeleting ? "i-ph-circle-notch animate-spin" : "i-ph-trash"}
        label={t("contacts.deleteName", { name })}
        className="text-danger"
        disabled={isDeleting}
        aria-busy={isDeleting || undefined}
        onClick={() => onDelete(contact)}
      />
    </div>
  );
}
