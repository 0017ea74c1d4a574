import type { ReactNode } from "react";
import { Link } from "react-router";
import { Avatar, type AvatarPerson } from "../../components/avatar";
import { useT } from "../../i18n/setup";

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

/** Two lines fit the header of 72 px, however large the text. */
const lines = "leading-[min(1.25rem,34px)] sm:leading-[min(1.5rem,34px)]";
const secondLine = "truncate text-sm leading-[min(1.25rem,34px)]";

/** Who the chat is with; it leads to more of them. Typing is announced by `TypingAnnouncer`, here it only shows. */
export function ChatHeading({ path, person, name, isMuted, typing, line }: ChatHeadingProps) {
  const t = useT();
  const hasSecond = typing !== undefined || line !== undefined;
  const look = "flex min-h-12 w-fit max-w-full items-center gap-2 rounded-card pr-1 -outline-offset-3 sm:gap-3 sm:pr-2";
  const content = (
    <>
      <Avatar person={person ?? nobody} size={40} />
      <span className="flex min-w-0 flex-col">
        <span className="flex items-center gap-1.5">
          <bdi
            className={`min-w-0 text-base sm:text-lg ${lines} ${hasSecond ? "truncate" : "line-clamp-2 break-words whitespace-normal"}`}
          >
            {person ? name : ""}
          </bdi>
          {isMuted && (
            <span role="img" aria-label={t("mute.isOn")} className="i-ph-bell-slash shrink-0 text-base text-muted" />
          )}
        </span>
        {typing !== undefined ? (
          <span aria-hidden="true" className={`${secondLine} font-medium text-accent`}>
            {typing}
          </span>
        ) : (
          line !== undefined && <span className={`${secondLine} font-normal text-muted`}>{line}</span>
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
