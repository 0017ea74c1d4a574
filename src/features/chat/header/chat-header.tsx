import type { ReactNode } from "react";
import { Link } from "react-router";
import { Avatar } from "#components/people/avatar.tsx";
import { type AvatarPerson, unknownPerson } from "#components/people/avatar-text.ts";

type ChatHeaderProps = {
  profilePath: string | undefined;
  person: AvatarPerson | undefined;
  name: string;
  /** Text of the sign of a muted chat; undefined if it is not muted. */
  mutedText: string | undefined;
  /** Typing notification; replaces the subtitle. */
  typingText: string | undefined;
  /** Presence or member count. */
  subtitle?: ReactNode;
};

const nameClasses =
  "line-clamp-2 min-w-0 text-[length:min(1rem,20px)] leading-[1.25] break-words whitespace-normal sm:text-[length:min(1.125rem,20px)]";
const subtitleClasses =
  "w-full truncate text-[length:min(0.8125rem,15px)] leading-[1.3] sm:text-[length:min(0.875rem,15px)]";

/** Avatar, name and subtitle of a chat, linked to the profile or members. `TypingAnnouncer` announces typing. */
export function ChatHeader({ profilePath, person, name, mutedText, typingText, subtitle }: ChatHeaderProps) {
  const classes =
    "flex min-h-12 w-fit max-w-full items-center gap-2 rounded-card pr-1 -outline-offset-3 sm:gap-3 sm:pr-2";
  const content = (
    <>
      <Avatar person={person ?? unknownPerson} size={40} />
      {/* The header is 72 px high: a subtitle that does not fit below a two-line name wraps aside and is clipped. */}
      <span className="flex max-h-[70px] min-w-0 flex-col flex-wrap content-start justify-center overflow-hidden">
        <span className="flex w-full items-center gap-1.5">
          <bdi className={nameClasses}>{person ? name : ""}</bdi>
          {mutedText !== undefined && (
            <span
              role="img"
              aria-label={mutedText}
              title={mutedText}
              className="i-ph-bell-slash shrink-0 text-base text-muted"
            />
          )}
        </span>
        {typingText !== undefined ? (
          <span aria-hidden="true" className={`${subtitleClasses} font-medium text-accent`}>
            {typingText}
          </span>
        ) : (
          subtitle !== undefined && <span className={`${subtitleClasses} font-normal text-muted`}>{subtitle}</span>
        )}
      </span>
    </>
  );
  // No link before the name is loaded: a link needs a label.
  if (profilePath === undefined || !person) return <span className={classes}>{content}</span>;
  return (
    <Link to={profilePath} className={classes}>
      {content}
    </Link>
  );
}
