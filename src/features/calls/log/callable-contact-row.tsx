import { Link } from "react-router";
import { CallButtons } from "#calls/ui/call-buttons.tsx";
import { showBlockedCallToast } from "#components/people/blocked-call-toast.ts";
import { toNameOrNumber } from "#components/people/person-name.ts";
import { PersonListItem } from "#components/people/person-row.tsx";
import type { CallKind } from "#contract/calls/call.ts";
import type { PersonRow } from "#sync/store/database.ts";

const minRowPx = 72;
const rowPaddingPx = 24;
const textRowRem = 2.75; // name and number
const largeTextPx = 24;

const getRootFontPx = (): number => Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
/** True if the text is so large that name and number need two lines each on a phone. */
const isTextLarge = (): boolean => getRootFontPx() >= largeTextPx;

/** Row height in pixels, more with large text; used by the virtualized list. */
export const getCallableContactRowPx = (): number =>
  Math.max(minRowPx, textRowRem * (isTextLarge() ? 2 : 1) * getRootFontPx() + rowPaddingPx);

const voiceOnly: readonly CallKind[] = ["audio"];

/** Row of a contact with a voice call button; picture and name open the chat. */
export function CallableContactRow({ contact }: { contact: PersonRow }) {
  const name = toNameOrNumber(contact);
  return (
    <div
      className="flex items-center gap-1 border-b border-line pr-2 has-[a:hover]:bg-raised"
      style={{ height: getCallableContactRowPx() }}
    >
      <Link to={`/app/chat/${contact.id}`} className="flex h-full min-w-0 flex-1 items-center pl-4 -outline-offset-3">
        <PersonListItem person={contact} wraps={isTextLarge()} />
      </Link>
      <span className="text-accent">
        <CallButtons
          peer={contact.id}
          name={name}
          kinds={voiceOnly}
          refuse={contact.blocked === 1 ? () => showBlockedCallToast(name) : undefined}
        />
      </span>
    </div>
  );
}
