import { useEffect, useState } from "react";
import type { ConversationId } from "#contract/ids.ts";
import type { SearchFilter } from "#contract/wire/search-filter.ts";
import { useEngine } from "#sync/hooks/use-live-query.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import { type SearchHit, searchMessages } from "#sync/queries/search/message-search.ts";

export type ChatSearch = {
  state: "idle" | "running" | "complete" | "local";
  /** Results so far, newest first. */
  results: SearchHit[];
  /** Messages that only the server has, where words are found by their beginnings. */
  hasOlder?: boolean;
  error?: SyncError["code"];
};
const idleChatSearch: ChatSearch = { state: "idle", results: [] };
const runningChatSearch: ChatSearch = { state: "running", results: [] };

/**
 * Runs a search with every key. `filter` is the same object until another one is chosen. Results appear as they arrive; a
 * newer search aborts an older one.
 */
export const useChatSearch = (
  conversation: ConversationId,
  query: string,
  filter: SearchFilter | undefined,
): ChatSearch => {
  const engine = useEngine();
  const isIdle = query === "" && !filter;
  const [shown, setShown] = useState({ query, filter, search: idleChatSearch });
  useEffect(() => {
    if (!engine || isIdle) return;
    const controller = new AbortController();
    const { signal } = controller;
    const update = (change: Partial<ChatSearch>) => {
      if (!signal.aborted) setShown(({ search }) => ({ query, filter, search: { ...search, ...change } }));
    };
    setShown({ query, filter, search: runningChatSearch });
    searchMessages(engine.client, conversation, { query, filter }, (found) => update({ results: found }), signal).then(
      ({ isComplete, hasOlder }) => update({ state: isComplete ? "complete" : "local", hasOlder }),
      (error: unknown) => update({ state: "local", error: error instanceof SyncError ? error.code : "internal" }),
    );
    return () => controller.abort();
  }, [engine, conversation, query, filter, isIdle]);
  if (isIdle) return idleChatSearch;
  // Results of an older search are not shown.
  const isCurrent = shown.query === query && shown.filter === filter;
  return isCurrent && shown.search.state !== "idle" ? shown.search : runningChatSearch;
};
