import { createContext, useContext } from "react";
import { HighlightedSpans } from "#components/messages/highlighted-spans.tsx";
import { findMatches } from "#lib/text/search-matching.ts";

/** Query of a search and the `seq` of the result that is shown in the list. */
export type ActiveSearchResult = { query: string; seq: number };

export const ActiveSearchResultContext = createContext<ActiveSearchResult | undefined>(undefined);

/** Message text; the matches of an active search are marked. */
export function HighlightedText({ text }: { text: string }) {
  const activeResult = useContext(ActiveSearchResultContext);
  return activeResult ? <HighlightedSpans text={text} spans={findMatches(text, activeResult.query)} /> : text;
}
