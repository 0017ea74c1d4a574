import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { GlobalSearchFilter } from "#contract/wire/global-search.ts";
import { createMessageMatcher } from "#contract/wire/search-filter.ts";
import { createPartMatcher } from "#lib/text/search-matching.ts";
import { useEngine, useLiveQuery } from "#sync/hooks/use-live-query.ts";
import type { GlobalQuery } from "#sync/queries/conversation-filter.ts";
import { GlobalMessageSearch, type GlobalSearchView } from "#sync/queries/search/global-search.ts";
import {
  findArrivedResults,
  findNewestResults,
  findNewestTime,
  type NewestResults,
  readNewestResults,
} from "#sync/queries/search/newest-results.ts";
import { canSearch, type FoundMessage, prepareSearch } from "#sync/queries/search/stored-message-search.ts";
import { TextBlockCache } from "#sync/queries/search/text-blocks.ts";

const instantResults = 4; // drawn in the frame of the first letter

type ShownSearch = GlobalSearchView & { search: GlobalQuery };
const noSearch: ShownSearch = {
  ...{ search: { query: "" }, stored: [], older: [] },
  ...{ state: "running", isLimited: false },
};

/** Results that are in memory when a letter is typed. An empty query has the newest messages. */
const useInstantResults = (query: string, newest: readonly NewestResults[] | undefined): FoundMessage[] | undefined =>
  useMemo(() => {
    if (!newest) return undefined;
    return query === "" || canSearch({ query }) ? findNewestResults(newest, query, instantResults) : [];
  }, [newest, query]);

/** Matching messages that were sent or received since the search began. Without those of a person who is chosen. */
const useArrivedResults = (
  query: string,
  filter: GlobalSearchFilter | undefined,
  newest: readonly NewestResults[] | undefined,
): FoundMessage[] => {
  const isRead = newest !== undefined;
  const begin = () => ({ query, filter, isRead, at: findNewestTime(newest ?? []) });
  const [begun, setBegun] = useState(begin);
  const isSame = begun.query === query && begun.filter === filter && begun.isRead === isRead;
  const search = isSame ? begun : begin();
  if (!isSame) setBegun(search);
  const startedAt = search.at;
  return useMemo(
    () =>
      newest && filter?.from === undefined && canSearch({ query, filter })
        ? findArrivedResults(
            newest,
            startedAt,
            createMessageMatcher(createPartMatcher(query), { ...filter, from: undefined }),
          )
        : [],
    [newest, startedAt, query, filter],
  );
};

/** Results with those that arrived above them, each once. */
const addArrived = (stored: FoundMessage[], arrived: readonly FoundMessage[]): FoundMessage[] => {
  const isStored = ({ conversation, seq }: FoundMessage) =>
    stored.some((found) => found.conversation === conversation && found.seq === seq);
  return [...arrived.filter((message) => !isStored(message)), ...stored];
};

/**
 * Searches the messages of all conversations. `filter` is the same object until another one is chosen. While a person
 * types, the results of the former query remain until the first ones of the new query. Without a query and a filter it
 * reads what the first search needs, and returns the newest messages: drawn invisibly, they make the first results
 * appear sooner.
 */
export const useGlobalSearch = (
  query: string,
  filter: GlobalSearchFilter | undefined,
): GlobalSearchView & { showMore: () => void } => {
  const engine = useEngine();
  const [cache] = useState(() => new TextBlockCache());
  const [shown, setShown] = useState(noSearch);
  const current = useRef<GlobalMessageSearch>(undefined);
  const newest = useLiveQuery("newest messages", (context) => readNewestResults(context, cache), false);
  const instant = useInstantResults(query, newest);
  const arrived = useArrivedResults(query, filter, newest);
  const isPreparing = query === "" && !filter;
  const canPrepareRest = isPreparing && instant !== undefined;
  useEffect(() => {
    if (!engine || isPreparing) {
      setShown(noSearch);
      return;
    }
    const wanted = { query, filter };
    const show = (view: GlobalSearchView) => setShown({ ...view, search: wanted });
    const search = new GlobalMessageSearch(engine.client, wanted, cache, show);
    current.current = search;
    void search.start();
    return () => search.stop();
  }, [engine, query, filter, isPreparing, cache]);
  useEffect(() => {
    const context = canPrepareRest && engine?.client.context.get();
    if (!context) return;
    const controller = new AbortController();
    // Fails only if the store is closed meanwhile.
    prepareSearch(context, cache, controller.signal).catch(() => {});
    return () => controller.abort();
  }, [engine, canPrepareRest, cache]);
  const showMore = useCallback(() => void current.current?.showMore(), []);
  const { search, ...view } = shown.search.filter === filter ? shown : noSearch;
  const isCurrent = search.query === query;
  const hasOwnResults = isCurrent && (view.stored.length > 0 || view.state !== "running");
  if (instant && instant.length > 0 && !filter && !hasOwnResults) return { ...noSearch, stored: instant, showMore };
  const stored = addArrived(view.stored, arrived);
  return { ...view, stored, ...(isCurrent ? {} : { state: "running" }), showMore };
};
