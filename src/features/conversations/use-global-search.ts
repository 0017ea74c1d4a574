import { useCallback, useEffect, useRef, useState } from "react";
import { useEngine } from "#sync/hooks/use-live-query.ts";
import { GlobalMessageSearch, type GlobalSearchView } from "#sync/queries/global-search.ts";
import { TextBlockCache } from "#sync/queries/text-blocks.ts";

const typingPauseMs = 50; // the search itself is cheap to end

/**
 * Searches the messages of all conversations when typing pauses. Results of the former query remain until the first ones
 * of the new query.
 */
export const useGlobalSearch = (query: string): GlobalSearchView & { showMore: () => void } => {
  const engine = useEngine();
  const [cache] = useState(() => new TextBlockCache());
  const [view, setView] = useState<GlobalSearchView>({
    ...{ query: "", stored: [], older: [] },
    ...{ state: "running", isLimited: false },
  });
  const current = useRef<GlobalMessageSearch>(undefined);
  useEffect(() => {
    if (!engine) return;
    const search = new GlobalMessageSearch(engine.tab, query, cache, setView);
    current.current = search;
    const timer = setTimeout(() => void search.start(), typingPauseMs);
    return () => {
      clearTimeout(timer);
      search.stop();
    };
  }, [engine, query, cache]);
  const showMore = useCallback(() => void current.current?.showMore(), []);
  return { ...view, ...(view.query === query ? {} : { state: "running" }), showMore };
};
