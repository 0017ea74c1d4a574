import { useCallback, useEffect, useRef, useState } from "react";
import { useEngine } from "#sync/hooks/use-live-query.ts";
import { GlobalMessageSearch, type GlobalSearchView } from "#sync/queries/global-search.ts";
import { prepareSearch } from "#sync/queries/stored-message-search.ts";
import { TextBlockCache } from "#sync/queries/text-blocks.ts";

/**
 * Searches the messages of all conversations. Results of the former query remain until the first ones of the new query.
 * Without a query it reads what the first search needs.
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
    const controller = new AbortController();
    const context = engine.tab.context.get();
    if (query === "") {
      // Fails only if the store is closed meanwhile.
      if (context) prepareSearch(context, cache, controller.signal).catch(() => {});
      return () => controller.abort();
    }
    const search = new GlobalMessageSearch(engine.tab, query, cache, setView);
    current.current = search;
    void search.start();
    return () => search.stop();
  }, [engine, query, cache]);
  const showMore = useCallback(() => void current.current?.showMore(), []);
  return { ...view, ...(view.query === query ? {} : { state: "running" }), showMore };
};
