import type { CSSProperties } from "react";
import { Link } from "react-router";
import { Avatar, toPersonHue } from "#components/people/avatar.tsx";
import { balanceBidi } from "#lib/text/bidi.ts";
import type { GroupSender } from "./senders.ts";

// Who wrote what in a group. While that is being asked for nobody's name and letter stand there: a word that fits
// everybody would make several people look like one.

/** As high as `namePx`, and nearer to what was written than to the bubble's edge. */
const nameLook = "-mb-1 flex min-h-[26px] items-end px-3 pt-2 text-sm leading-[18px]";

/** The name above the first of a run; a screen reader is told it with each. */
export function SenderName({ writer: { name, person } }: { writer: GroupSender }) {
  if (!person) {
    return (
      <p aria-hidden="true" className={nameLook}>
        <span data-unnamed="" className="mb-1 h-3 w-20 rounded-full bg-raised" />
      </p>
    );
  }
  return (
    <p
      aria-hidden="true"
      style={{ "--hue": toPersonHue(person) } as CSSProperties}
      className={`${nameLook} font-semibold text-[hsl(var(--hue)_var(--writer))]`}
    >
      <bdi className="min-w-0 truncate">{balanceBidi(name)}</bdi>
    </p>
  );
}

const avatarLook = "absolute bottom-0 left-0 grid h-12 w-12 items-end justify-items-center pb-2";
const numberHueStep = 137; // degrees: neighbours in the group get hues far apart

/** The picture beside the last of a run; it leads to the person, as the message's menu does for the keyboard. */
export function SenderAvatar({ writer: { user, number, person } }: { writer: GroupSender }) {
  if (!person) {
    const hue = ((number ?? 0) * numberHueStep) % 360;
    return (
      <span aria-hidden="true" className={avatarLook}>
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
  if (user === "") return <span className={avatarLook}>{picture}</span>;
  return (
    <Link to={`/app/user/${user}`} tabIndex={-1} aria-hidden="true" className={avatarLook}>
      {picture}
    </Link>
  );
}
