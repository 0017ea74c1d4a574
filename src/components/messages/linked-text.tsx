import { Fragment, type ReactNode, useMemo } from "react";
import { toTextParts } from "#contract/wire/links.ts";
import { balanceBidi } from "#lib/text/bidi.ts";

type LinkedTextProps = {
  text: string;
  /** Renders a piece of text; plain by default. */
  children?: (words: string) => ReactNode;
};

const renderPlain = (words: string): ReactNode => words;

/** User-written text with clickable links. */
export function LinkedText({ text, children: renderText = renderPlain }: LinkedTextProps) {
  const parts = useMemo(() => toTextParts(balanceBidi(text)), [text]);
  let at = 0;
  return parts.map((part) => {
    const key = at;
    if (typeof part === "string") {
      at += part.length;
      return <Fragment key={key}>{renderText(part)}</Fragment>;
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
          {renderText(part.text)}
        </a>
        {part.host && <bdi className="text-sm text-muted">{` (${part.host})`}</bdi>}
      </span>
    );
  });
}
