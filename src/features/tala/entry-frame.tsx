import { type ReactNode, useRef } from "react";
import { useTranslation } from "react-i18next";
import { Avatar } from "#components/people/avatar.tsx";
import { PostWords } from "./post-text.tsx";
import { passToNeighbour, usePassedFocus } from "./use-focus-handoff.ts";

type EntryFrameProps = {
  author: { username: string; avatar: string | null };
  /** When it was published, or how it stands. */
  note: ReactNode;
  content: string;
  picture?: ReactNode;
  /** What can be done with it. */
  deeds?: ReactNode;
  /** Below all of it. */
  children?: ReactNode;
};

/** A status: who, when, what. Names and words may be of any script and direction. */
export function EntryFrame({ author, note, content, picture, deeds, children }: EntryFrameProps) {
  const { t } = useTranslation();
  const article = useRef<HTMLElement>(null);
  usePassedFocus(article, passToNeighbour);
  return (
    <article ref={article} tabIndex={-1} className="flex items-start gap-3 px-4 py-3 -outline-offset-3">
      <Avatar person={{ ...author, phone: "" }} size={44} isBrief />
      <div className="min-w-0 flex-1">
        <h2 className="leading-6 font-semibold break-words">
          <bdi>{author.username || t("common.user")}</bdi>
        </h2>
        {/* Here and not at the end of the line, where the button that floats over the list is. */}
        <div className="flex items-center">
          <p className="min-w-0 text-sm text-muted">{note}</p>
          {deeds && <span className="-my-3 shrink-0">{deeds}</span>}
        </div>
        {content !== "" && <PostWords content={content} />}
        {picture && <div className="mt-2">{picture}</div>}
        {children}
      </div>
    </article>
  );
}
