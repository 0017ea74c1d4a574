import { createContext, useContext } from "react";
import { findMatches } from "./search-matching.ts";

/** Query of a search and the `seq` of the result that is shown in the list. */
export type ActiveSearchResult = { query: string; seq: number };

export const ActiveSearchResultContext = createContext<ActiveSearchResult | undefined>(undefined);

/** Text with the spans from `findMatches` marked. */
export function HighlightedSpans({ text, spans }: { text: string; spans: ReturnType<typeof findMatches> }) {
  let end = 0;
  const parts = spans.flatMap((span) => {
    const between = text.slice(end, span.start);
    end = span.end;
    return [
      between,
      <mark key={span.start} className="rounded-sm bg-found text-on-found">
        {text.slice(span.start, span.end)}
      </mark>,
    ];
  });
  return (
    <>
      {parts}
      {text.slice(end)}
    </>
  );
}

/** Message text; the matches of an active search are marked. */
export function HighlightedText({ text }: { text: string }) {
  const activeResult = useContext(ActiveSearchResultContext);
  return activeResult ? <HighlightedSpans text={text} spans={findMatches(text, activeResult.query)} /> : text;
}
