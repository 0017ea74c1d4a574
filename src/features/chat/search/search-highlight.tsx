import { createContext, useContext } from "react";
import { HighlightedSpans } from "#components/messages/highlighted-spans.tsx";
import type { TextSpan } from "#lib/text/search-matching.ts";

/** A search result that is shown in the list. */
export type ActiveSearchResult = {
  query: string;
  seq: number;
  /** Finds the matches in a text. Given by the search, whose code is loaded with it. */
  findMatches: (text: string) => TextSpan[];
};

export const ActiveSearchResultContext = createContext<ActiveSearchResult | undefined>(undefined);

/** Message text; the matches of an active search are marked. */
export function HighlightedText({ text }: { text: string }) {
  const activeResult = useContext(ActiveSearchResultContext);
  return activeResult ? <HighlightedSpans text={text} spans={activeResult.findMatches(text)} /> : text;
}
