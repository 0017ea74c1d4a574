import { useEffect, useState } from "react";
import type { ConversationId } from "#contract/ids.ts";
import { type SearchHit, SyncError, searchChat } from "#sync/actions.ts";

const typingPauseMs = 250;

export type ChatSearch = {
  state: "idle" | "running" | "complete" | "local";
  /** Results so far, newest first. */
  results: SearchHit[];
  error?: SyncError["code"];
};
const idleChatSearch: ChatSearch = { state: "idle", results: [] };

/** Runs a search when typing pauses. Results appear as they arrive; a newer query aborts an older one. */
export const useChatSearch = (conversation: ConversationId, query: string): ChatSearch => {
  const [search, setSearch] = useState({ query, ...idleChatSearch });
  useEffect(() => {
    if (query === "") return;
    const controller = new AbortController();
    const { signal } = controller;
    const update = (change: Partial<ChatSearch>) => {
      if (!signal.aborted) setSearch((search) => ({ ...search, ...change }));
    };
    const timer = setTimeout(() => {
      setSearch({ query, state: "running", results: [] });
      searchChat(conversation, query, (found) => update({ results: found }), signal).then(
        ({ complete }) => update({ state: complete ? "complete" : "local" }),
        (error: unknown) => update({ state: "local", error: error instanceof SyncError ? error.code : "internal" }),
      );
    }, typingPauseMs);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [conversation, query]);
  if (query === "") return idleChatSearch;
  // Results of an older query are not shown: until typing pauses, the new query counts as running.
  return search.query === query && search.state !== "idle" ? search : { state: "running", results: [] };
};
