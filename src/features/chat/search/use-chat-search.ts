import { useEffect, useState } from "react";
import type { ConversationId } from "#contract/ids.ts";
import { type FoundMessage, SyncError, searchChat } from "#sync/actions.ts";

const typingPauseMs = 250;

export type ChatSearch = {
  state: "idle" | "running" | "complete" | "local";
  /** Newest first. */
  found: FoundMessage[];
  error?: SyncError["code"];
};
const idle: ChatSearch = { state: "idle", found: [] };

/** Runs a search a moment after the typing pauses; what is found shows as it comes, and a newer query ends an older one. */
export const useChatSearch = (conversation: ConversationId, query: string): ChatSearch => {
  const [search, setSearch] = useState({ query, ...idle });
  useEffect(() => {
    if (query === "") return;
    const controller = new AbortController();
    const { signal } = controller;
    const update = (change: Partial<ChatSearch>) => {
      if (!signal.aborted) setSearch((search) => ({ ...search, ...change }));
    };
    const timer = setTimeout(() => {
      setSearch({ query, state: "running", found: [] });
      searchChat(conversation, query, (found) => update({ found }), signal).then(
        ({ complete }) => update({ state: complete ? "complete" : "local" }),
        (error: unknown) => update({ state: "local", error: error instanceof SyncError ? error.code : "internal" }),
      );
    }, typingPauseMs);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [conversation, query]);
  if (query === "") return idle;
  // What an older query found is nothing to go to: until the typing pauses the new one counts as under way.
  return search.query === query && search.state !== "idle" ? search : { state: "running", found: [] };
};
