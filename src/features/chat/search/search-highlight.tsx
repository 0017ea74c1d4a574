import { createContext, useContext } from "react";
import { findMatches } from "./search-matching.ts";

/** What a search is showing in the messages: its words, and the place of the message one is at. */
export type ActiveSearchResult = { query: string; seq: number };

export const ActiveSearchResultContext = createContext<ActiveSearchResult | undefined>(undefined);

/** A text with the words marked in it, as places found by `findSpans`. */
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

/** Words of a message: while a search shows them, what it looked for is marked. */
export function HighlightedText({ text }: { text: string }) {
  const found = useContext(ActiveSearchResultContext);
  return found ? <HighlightedSpans text={text} spans={findMatches(text, found.query)} /> : text;
}
