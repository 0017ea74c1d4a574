import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { Avatar, type AvatarPerson } from "#components/people/avatar.tsx";

const unknownPerson = { username: "", phone: "", avatar: null };

type ChatHeaderProps = {
  profilePath: string | undefined;
  person: AvatarPerson | undefined;
  name: string;
  isMuted: boolean;
  /** Who types; it takes the place of `line`. */
  typingText: string | undefined;
  /** What stands below the name while nobody types. */
  subtitle?: ReactNode;
};

const nameLook =
  "line-clamp-2 min-w-0 text-[length:min(1rem,20px)] leading-[1.25] break-words whitespace-normal sm:text-lg";
const subtitleLook = "w-full truncate text-[0.8125rem] leading-[1.4] sm:text-sm";

/** Who the chat is with; it leads to more of them. Typing is announced by `TypingAnnouncer`, here it only shows. */
export function ChatHeader({ profilePath, person, name, isMuted, typingText, subtitle }: ChatHeaderProps) {
  const { t } = useTranslation();
  const look = "flex min-h-12 w-fit max-w-full items-center gap-2 rounded-card pr-1 -outline-offset-3 sm:gap-3 sm:pr-2";
  const content = (
    <>
      <Avatar person={person ?? unknownPerson} size={40} />
      {/* In the header of 72 px, what has no room below a name of two lines would stand beside it, and is cut off. */}
      <span className="flex max-h-[70px] min-w-0 flex-col flex-wrap content-start justify-center overflow-hidden">
        <span className="flex w-full items-center gap-1.5">
          <bdi className={nameLook}>{person ? name : ""}</bdi>
          {isMuted && (
            <span role="img" aria-label={t("mute.isOn")} className="i-ph-bell-slash shrink-0 text-base text-muted" />
          )}
        </span>
        {typingText !== undefined ? (
          <span aria-hidden="true" className={`${subtitleLook} font-medium text-accent`}>
            {typingText}
          </span>
        ) : (
          subtitle !== undefined && <span className={`${subtitleLook} font-normal text-muted`}>{subtitle}</span>
        )}
      </span>
    </>
  );
  // A link has a name, or is none yet.
  if (profilePath === undefined || !person) return <span className={look}>{content}</span>;
  return (
    <Link to={profilePath} className={look}>
      {content}
    </Link>
  );
}
