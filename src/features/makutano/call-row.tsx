import { Link } from "react-router";
import { CallButtons } from "#calls/ui/call-buttons.tsx";
import { PersonLine } from "#components/people/person-row.tsx";
import { refuseBlocked } from "#components/people/refuse-call.ts";
import type { CallKind } from "#contract/calls/call.ts";
import type { PersonRow } from "#sync/store/database.ts";

const leastPx = 72;
const aroundPx = 24;
const linesRem = 2.75; // name and number
const largePx = 24;

const textPx = (): number => Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
/** Text so large that neither name nor number fits one line of a phone. */
const isLarge = (): boolean => textPx() >= largePx;

/** The height of a row in pixels, higher where text is set larger: the list counts on it. */
export const callRowPx = (): number => Math.max(leastPx, linesRem * (isLarge() ? 2 : 1) * textPx() + aroundPx);

const voiceOnly: readonly CallKind[] = ["audio"];

/** A contact and the button that calls them; picture and name open the chat, as in every list of people. */
export function CallRow({ contact }: { contact: PersonRow }) {
  const name = contact.username || contact.phone;
  return (
    <div
      className="flex items-center gap-1 border-b border-line pr-2 has-[a:hover]:bg-raised"
      style={{ height: callRowPx() }}
    >
      <Link to={`/app/chat/${contact.id}`} className="flex h-full min-w-0 flex-1 items-center pl-4 -outline-offset-3">
        <PersonLine person={contact} wraps={isLarge()} />
      </Link>
      <span className="text-accent">
        <CallButtons
          peer={contact.id}
          name={name}
          kinds={voiceOnly}
          refuse={contact.blocked === 1 ? () => refuseBlocked(name) : undefined}
        />
      </span>
    </div>
  );
}
