import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { CallButtons } from "#calls/ui/call-buttons.tsx";
import { IconButton } from "#components/controls/icon-button.tsx";
import { IconLink } from "#components/controls/icon-link.tsx";
import { Avatar } from "#components/people/avatar.tsx";
import { showBlockedCallToast } from "#components/people/blocked-call-toast.ts";
import { BlockedBadge } from "#components/people/name-badges.tsx";
import { toNameOrNumber } from "#components/people/person-name.ts";
import { PhoneNumber } from "#components/people/phone-number.tsx";
import type { PersonRow } from "#sync/store/database.ts";

const buttonRowPx = 48;
const textRowRem = 2.75; // name and number

/** Height of the name and number in pixels: at least a button's, more with large text. */
const getTextRowPx = (): number =>
  Math.max(buttonRowPx, textRowRem * Number.parseFloat(getComputedStyle(document.documentElement).fontSize));

/** Row height in pixels, used by the virtualized list. */
export const getContactRowPx = (): number => getTextRowPx() + buttonRowPx;

type ContactRowProps = { contact: PersonRow; isDeleting: boolean; onDelete: (contact: PersonRow) => void };

/**
 * Row of a contact. Picture and name open the chat; the buttons are below them, not beside, so that four buttons of 48
 * px leave enough width for the name on a narrow screen.
 */
export function ContactRow({ contact, isDeleting, onDelete }: ContactRowProps) {
  const { t } = useTranslation();
  const name = toNameOrNumber(contact);
  const textPx = getTextRowPx();
  return (
    <div
      className="relative grid grid-cols-[50px_minmax(0,1fr)] gap-x-3 border-b border-line pr-2 pl-4 has-[a.chat:hover]:bg-raised"
      style={{ height: textPx + buttonRowPx, gridTemplateRows: `${textPx}px ${buttonRowPx}px` }}
    >
      <Link
        to={`/app/chat/${contact.id}`}
        className="chat absolute inset-x-0 top-0 pr-4 pl-4 -outline-offset-3"
        style={{ height: textPx }}
      >
        <span className="absolute top-[calc(50%-1px)]">
          <Avatar person={contact} />
        </span>
        <span className="ml-[62px] flex h-full flex-col justify-end leading-5">
          <span className="flex items-center gap-1.5">
            <bdi className="min-w-0 truncate font-semibold">{contact.username || t("common.user")}</bdi>
            {contact.blocked === 1 && <BlockedBadge />}
          </span>
          {contact.numberNotice === "left" ? (
            <span className="truncate text-sm text-muted">{t("number.notice.hint")}</span>
          ) : (
            <PhoneNumber phone={contact.phone} className="self-start text-sm text-muted tabular-nums" />
          )}
        </span>
      </Link>
      <div className="col-start-2 row-start-2 -ml-3 flex text-accent">
        <CallButtons
          peer={contact.id}
          name={name}
          refuse={contact.blocked === 1 ? () => showBlockedCallToast(name) : undefined}
        />
        <IconLink to={`/app/user/${contact.id}`} icon="i-ph-user-circle" label={t("contacts.viewProfile", { name })} />
        <IconButton
          icon={isDeleting ? "i-ph-circle-notch animate-spin" : "i-ph-trash"}
          label={t("contacts.deleteName", { name })}
          className="ml-auto text-danger"
          disabled={isDeleting}
          aria-busy={isDeleting || undefined}
          onClick={() => onDelete(contact)}
        />
      </div>
    </div>
  );
}
