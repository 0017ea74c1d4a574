import { Link } from "react-router";
import { Avatar, type AvatarPerson } from "../../components/avatar";
import { useT } from "../../i18n/setup";

const nobody = { username: "", phone: "", avatar: null };

type ChatHeadingProps = {
  path: string;
  person: AvatarPerson | undefined;
  name: string;
  isMuted: boolean;
  isTyping: boolean;
};

/** Two lines fit the header of 72 px, however large the text. */
const lines = "leading-[min(1.25rem,34px)] sm:leading-[min(1.5rem,34px)]";

/** Who the chat is with; it leads to the profile. Typing is announced by `TypingAnnouncer`, here it only shows. */
export function ChatHeading({ path, person, name, isMuted, isTyping }: ChatHeadingProps) {
  const t = useT();
  return (
    <Link to={path} className="flex min-h-12 w-fit max-w-full items-center gap-2 rounded-card pr-1 sm:gap-3 sm:pr-2">
      <Avatar person={person ?? nobody} size={40} />
      <span className="flex min-w-0 flex-col">
        <span className="flex items-center gap-1.5">
          <bdi
            className={`min-w-0 text-base sm:text-lg ${lines} ${isTyping ? "truncate" : "line-clamp-2 break-words whitespace-normal"}`}
          >
            {person ? name : ""}
          </bdi>
          {isMuted && (
            <span role="img" aria-label={t("mute.isOn")} className="i-ph-bell-slash shrink-0 text-base text-muted" />
          )}
        </span>
        {isTyping && (
          <span aria-hidden="true" className="truncate text-sm leading-[min(1.25rem,34px)] font-medium text-accent">
            {t("chat.typing")}
          </span>
        )}
      </span>
    </Link>
  );
}
