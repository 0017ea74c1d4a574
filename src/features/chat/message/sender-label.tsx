import type { CSSProperties } from "react";
import { Link } from "react-router";
import { Avatar } from "#components/people/avatar.tsx";
import { toPersonHue } from "#components/people/avatar-text.ts";
import { balanceBidi } from "#lib/text/bidi.ts";
import type { GroupSender } from "./senders.ts";

// Name and avatar of the sender of a group message. A neutral placeholder stands in until the profile is loaded: a
// generic name would make several people look like one.

/** Height `senderNamePx`, more in large text; closer to the text than to the edge of the bubble. */
const nameClasses = "-mb-1 flex min-h-[26px] items-end px-3 pt-2 text-sm leading-[1.125rem]";

/** Sender name above the first message of a run. Screen readers get it with every message. */
export function SenderName({ sender: { name, person } }: { sender: GroupSender }) {
  if (!person) {
    return (
      <p aria-hidden="true" className={nameClasses}>
        <span data-unnamed="" className="mb-1 h-3 w-20 rounded-full bg-raised" />
      </p>
    );
  }
  return (
    <p
      aria-hidden="true"
      style={{ "--hue": toPersonHue(person) } as CSSProperties}
      className={`${nameClasses} font-semibold text-[hsl(var(--hue)_var(--writer))]`}
    >
      <bdi className="min-w-0 truncate">{balanceBidi(name)}</bdi>
    </p>
  );
}

const avatarClasses = "absolute bottom-0 left-0 grid h-12 w-12 items-end justify-items-center pb-2";
const numberHueStep = 137; // degrees: neighbours in the group get hues far apart

/** Avatar beside the last message of a run, linked to the profile. The keyboard reaches it by the message menu. */
export function SenderAvatar({ sender: { user, number, person } }: { sender: GroupSender }) {
  if (!person) {
    const hue = ((number ?? 0) * numberHueStep) % 360;
    return (
      <span aria-hidden="true" className={avatarClasses}>
        <span
          className="grid size-8 place-items-center rounded-full text-white"
          style={{ backgroundColor: `hsl(${hue} 20% 50%)` }}
        >
          <span className="i-ph-user text-lg" />
        </span>
      </span>
    );
  }
  const picture = <Avatar person={person} size={32} />;
  if (user === "") return <span className={avatarClasses}>{picture}</span>;
  return (
    <Link to={`/app/user/${user}`} tabIndex={-1} aria-hidden="true" className={avatarClasses}>
      {picture}
    </Link>
  );
}
