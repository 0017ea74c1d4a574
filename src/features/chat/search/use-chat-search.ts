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

/** Runs a search with every key. Results appear as they arrive; a newer search aborts an older one. */
export const useChatSearch = (
  conversation: ConversationId,
  query: string,
  filter: SearchFilter | undefined,
): ChatSearch => {
  const engine = useEngine();
  const key = query === "" && !filter ? "" : JSON.stringify([query, filter]);
  const [search, setSearch] = useState({ key, ...idleChatSearch });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key stands for the query and the filter
  useEffect(() => {
    if (!engine || key === "") return;
    const controller = new AbortController();
    const { signal } = controller;
    const update = (change: Partial<ChatSearch>) => {
      if (!signal.aborted) setSearch((search) => ({ ...search, ...change }));
    };
    setSearch({ key, state: "running", results: [] });
    searchMessages(engine.client, conversation, { query, filter }, (found) => update({ results: found }), signal).then(
      ({ isComplete, hasOlder }) => update({ state: isComplete ? "complete" : "local", hasOlder }),
      (error: unknown) => update({ state: "local", error: error instanceof SyncError ? error.code : "internal" }),
    );
    return () => controller.abort();
  }, [engine, conversation, key]);
  if (key === "") return idleChatSearch;
  // Results of an older search are not shown.
  return search.key === key && search.state !== "idle" ? search : { state: "running", results: [] };
};
