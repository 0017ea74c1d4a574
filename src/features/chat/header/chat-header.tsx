import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { Avatar, type AvatarPerson } from "#components/people/avatar.tsx";

const nobody = { username: "", phone: "", avatar: null };

type ChatHeadingProps = {
  path: string | undefined;
  person: AvatarPerson | undefined;
  name: string;
  isMuted: boolean;
  /** Who types; it takes the place of `line`. */
  typing: string | undefined;
  /** What stands below the name while nobody types. */
  line?: ReactNode;
};

const nameLook =
  "line-clamp-2 min-w-0 text-[length:min(1rem,20px)] leading-[1.25] break-words whitespace-normal sm:text-lg";
const lineBelow = "w-full truncate text-[0.8125rem] leading-[1.4] sm:text-sm";

/** Who the chat is with; it leads to more of them. Typing is announced by `TypingAnnouncer`, here it only shows. */
export function ChatHeading({ path, person, name, isMuted, typing, line }: ChatHeadingProps) {
  const { t } = useTranslation();
  const look = "flex min-h-12 w-fit max-w-full items-center gap-2 rounded-card pr-1 -outline-offset-3 sm:gap-3 sm:pr-2";
  const content = (
    <>
      <Avatar person={person ?? nobody} size={40} />
      {/* In the header of 72 px, what has no room below a name of two lines would stand beside it, and is cut off. */}
      <span className="flex max-h-[70px] min-w-0 flex-col flex-wrap content-start justify-center overflow-hidden">
        <span className="flex w-full items-center gap-1.5">
          <bdi className={nameLook}>{person ? name : ""}</bdi>
          {isMuted && (
            <span role="img" aria-label={t("mute.isOn")} className="i-ph-bell-slash shrink-0 text-base text-muted" />
          )}
        </span>
        {typing !== undefined ? (
          <span aria-hidden="true" className={`${lineBelow} font-medium text-accent`}>
            {typing}
          </span>
        ) : (
          line !== undefined && <span className={`${lineBelow} font-normal text-muted`}>{line}</span>
        )}
      </span>
    </>
  );
  // A link has a name, or is none yet.
  if (path === undefined || !person) return <span className={look}>{content}</span>;
  return (
    <Link to={path} className={look}>
      {content}
    </Link>
  );
}
