import { Fragment, type ReactNode, useMemo } from "react";
import { balanceBidi } from "#lib/text/bidi.ts";
import { toTextParts } from "#lib/text/links.ts";

type LinkedTextProps = {
  text: string;
  /** Draws words; as they are unless told otherwise. */
  children?: (words: string) => ReactNode;
};

const renderPlain = (words: string): ReactNode => words;

/** Somebody's words, with links where they lead elsewhere. */
export function LinkedText({ text, children: draw = renderPlain }: LinkedTextProps) {
  const parts = useMemo(() => toTextParts(balanceBidi(text)), [text]);
  let at = 0;
  return parts.map((part) => {
    const key = at;
    if (typeof part === "string") {
      at += part.length;
      return <Fragment key={key}>{draw(part)}</Fragment>;
    }
    at += part.text.length;
    return (
      <span key={key}>
        <a
          href={part.href}
          target="_blank"
          rel="noopener noreferrer nofollow"
          dir="ltr"
          className="font-medium text-accent underline decoration-1 underline-offset-2 [unicode-bidi:isolate]"
        >
          {draw(part.text)}
        </a>
        {part.host && <bdi className="text-sm text-muted">{` (${part.host})`}</bdi>}
      </span>
    );
  });
}
