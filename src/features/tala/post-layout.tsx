import { type ReactNode, useRef } from "react";
import { useTranslation } from "react-i18next";
import { Avatar } from "#components/people/avatar.tsx";
import { PostBody } from "./post-text.tsx";
import { toNeighbourFocusTarget, useFocusHandoff } from "./use-focus-handoff.ts";

type PostLayoutProps = {
  author: { username: string; avatar: string | null };
  /** Publication date or state. */
  note: ReactNode;
  content: string;
  picture?: ReactNode;
  /** Buttons of the post. */
  actions?: ReactNode;
  /** Rendered below the content. */
  children?: ReactNode;
};

/** Layout of a post: author, date, content. Names and text may have any script and direction. */
export function PostLayout({ author, note, content, picture, actions, children }: PostLayoutProps) {
  const { t } = useTranslation();
  const article = useRef<HTMLElement>(null);
  useFocusHandoff(article, toNeighbourFocusTarget);
  return (
    <article ref={article} tabIndex={-1} className="flex items-start gap-3 px-4 py-3 -outline-offset-3">
      <Avatar person={{ ...author, phone: "" }} size={44} hasSingleInitial />
      <div className="min-w-0 flex-1">
        <h2 className="leading-6 font-semibold break-words">
          <bdi>{author.username || t("common.user")}</bdi>
        </h2>
        {/* Next to the note, not at the end of the row, where the floating button is. */}
        <div className="flex items-center">
          <p className="min-w-0 text-sm text-muted">{note}</p>
          {actions && <span className="-my-3 shrink-0">{actions}</span>}
        </div>
        {content !== "" && <PostBody content={content} />}
        {picture && <div className="mt-2">{picture}</div>}
        {children}
      </div>
    </article>
  );
}
