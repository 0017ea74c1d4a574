import { useCallback, useEffect, useRef, useState } from "react";
import type { GlobalSearchFilter } from "#contract/wire/global-search.ts";
import { useEngine } from "#sync/hooks/use-live-query.ts";
import type { GlobalQuery } from "#sync/queries/conversation-filter.ts";
import { GlobalMessageSearch, type GlobalSearchView } from "#sync/queries/global-search.ts";
import { prepareSearch } from "#sync/queries/stored-message-search.ts";
import { TextBlockCache } from "#sync/queries/text-blocks.ts";

type ShownSearch = GlobalSearchView & { search: GlobalQuery };
const noSearch: ShownSearch = {
  ...{ search: { query: "" }, stored: [], older: [] },
  ...{ state: "running", isLimited: false },
};
const toKey = (filter: GlobalSearchFilter | undefined): string => JSON.stringify(filter ?? {});

/**
 * Searches the messages of all conversations. While a person types, the results of the former query remain until the
 * first ones of the new query. Without a query and a filter it reads what the first search needs.
 */
export const useGlobalSearch = (
  query: string,
  filter: GlobalSearchFilter | undefined,
): GlobalSearchView & { showMore: () => void } => {
  const engine = useEngine();
  const [cache] = useState(() => new TextBlockCache());
  const filterKey = toKey(filter);
  const [shown, setShown] = useState(noSearch);
  const current = useRef<GlobalMessageSearch>(undefined);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key stands for the filter, a new object at every render
  useEffect(() => {
    if (!engine) return;
    if (query === "" && !filter) {
      setShown(noSearch);
      const controller = new AbortController();
      const context = engine.tab.context.get();
      // Fails only if the store is closed meanwhile.
      if (context) prepareSearch(context, cache, controller.signal).catch(() => {});
      return () => controller.abort();
    }
    const wanted = { query, filter };
    const show = (view: GlobalSearchView) => setShown({ ...view, search: wanted });
    const search = new GlobalMessageSearch(engine.tab, wanted, cache, show);
    current.current = search;
    void search.start();
    return () => search.stop();
  }, [engine, query, filterKey, cache]);
  const showMore = useCallback(() => void current.current?.showMore(), []);
  const { search, ...view } = toKey(shown.search.filter) === filterKey ? shown : noSearch;
  return { ...view, ...(search.query === query ? {} : { state: "running" }), showMore };
};
