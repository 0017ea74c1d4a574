import { useEffect, useState } from "react";
import { useEngine } from "#sync/hooks/use-live-query.ts";
import { type StoredResult, searchStoredMessages } from "#sync/queries/stored-message-search.ts";

const typingPauseMs = 150;

/** Results so far of a search through the messages on this device. */
export type StoredSearch = { query: string; isRunning: boolean; results: StoredResult[] };

/** Runs the search when typing pauses. Results of the former query remain until the first ones of the new query. */
export const useStoredMessageSearch = (query: string): StoredSearch => {
  const engine = useEngine();
  const [search, setSearch] = useState<StoredSearch>({ query: "", isRunning: true, results: [] });
  useEffect(() => {
    if (!engine) return;
    const controller = new AbortController();
    const { signal } = controller;
    const run = async () => {
      let results: StoredResult[] = [];
      const show = (found: StoredResult[]) => {
        results = found;
        setSearch({ query, isRunning: true, results });
      };
      const context = engine.tab.context.get();
      // A store that was closed meanwhile has no results.
      if (context) await searchStoredMessages(context, query, show, signal).catch(() => undefined);
      if (!signal.aborted) setSearch({ query, isRunning: false, results });
    };
    const timer = setTimeout(() => void run(), typingPauseMs);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [engine, query]);
  return search.query === query ? search : { ...search, isRunning: true };
};
