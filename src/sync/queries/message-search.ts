import type { ConversationId } from "#contract/ids.ts";
import { toSearchWords } from "#contract/text.ts";
import type { CommandOf, SearchResult } from "#contract/wire/commands.ts";
import { createMessageMatcher, isSearchable } from "#contract/wire/search-filter.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import type { LocalMessageRow, LocalStore } from "#sync/store/database.ts";
import { readDeletedSeqs } from "#sync/store/pending/pending-message-flags.ts";
import { toLocalMessageRow, toMessageKey } from "#sync/store/row-mapping.ts";
import type { Tab } from "#sync/tabs/tab.ts";

export type SearchHit = {
  key: string;
  conversation: ConversationId;
  seq: number;
  at: number;
  sender: number;
  mine: boolean;
  body: LocalMessageRow["body"];
};

const toSearchHit = (row: LocalMessageRow): SearchHit => ({
  key: toMessageKey(row),
  conversation: row.conversation,
  seq: row.seq,
  at: row.at,
  sender: row.sender,
  mine: row.mine === 1,
  body: row.body,
});

/** What a search looks for: a text, a filter, or both. */
export type MessageSearch = Pick<CommandOf<"search">, "query" | "filter">;

const searchLocally = async (
  store: LocalStore,
  conversation: ConversationId,
  { query, filter }: MessageSearch,
  signal: AbortSignal | undefined,
) => {
  const isMatch = createMessageMatcher(query, filter);
  const deleted = await readDeletedSeqs(store, conversation);
  const hits: LocalMessageRow[] = [];
  await store
    .queryMessages(conversation, 1)
    .reverse()
    .until(() => signal?.aborted ?? false)
    .each((row) => {
      if (isMatch(row) && !deleted.has(row.seq)) hits.push(row);
    });
  return hits;
};

/**
 * Page of search results from the server. If there were too many requests, it waits as long as the server says, which
 * sets the pace at which a long history is searched. Undefined if the search was aborted meanwhile. Rejects with a
 * SyncError.
 */
export const requestSearchPage = async (
  tab: Tab,
  command: CommandOf<"search">,
  signal: AbortSignal | undefined,
): Promise<SearchResult | undefined> => {
  while (!signal?.aborted) {
    try {
      return await tab.request(command, signal);
    } catch (error) {
      if (!(error instanceof SyncError) || error.code !== "rate_limited" || error.retryAfterMs === undefined)
        throw error;
      const { retryAfterMs } = error;
      await new Promise<void>((resolve) => tab.platform.startTimer(retryAfterMs, resolve));
    }
  }
  return undefined;
};

/** Searches the stored messages, then the rest of the history page by page on the server. */
export const searchMessages = async (
  tab: Tab,
  conversation: ConversationId,
  { query, filter }: MessageSearch,
  onResults: (hits: SearchHit[]) => void,
  signal?: AbortSignal,
): Promise<{ complete: boolean }> => {
  const context = tab.context.get();
  const search: MessageSearch = { query: query.trim(), ...(filter ? { filter } : {}) };
  const hasOnlySigns = search.query !== "" && toSearchWords(search.query).length === 0;
  if (!context || hasOnlySigns || !isSearchable(search)) return { complete: true };
  const hits = new Map<number, SearchHit>();
  const show = (rows: LocalMessageRow[]) => {
    for (const row of rows) hits.set(row.seq, toSearchHit(row));
    if (!signal?.aborted) onResults([...hits.values()].sort((a, b) => b.seq - a.seq));
  };
  const row = await context.store.conversations.get(conversation);
  show(await searchLocally(context.store, conversation, search, signal));
  if (!row || row.head <= row.hidden) return { complete: true };
  // Messages from `lo` on were searched here, unless the newest ones are not stored.
  let before: number | null = row.hi >= row.head ? row.lo : row.head + 1;
  if (before <= row.hidden + 1) return { complete: true };
  while (before !== null && !signal?.aborted) {
    try {
      const page = await requestSearchPage(tab, { type: "search", conversation, ...search, before }, signal);
      if (!page) break;
      show(page.messages.map((message) => toLocalMessageRow(row, context.me, message)));
      if (page.before !== null && page.before >= before) break; // no progress
      before = page.before;
    } catch (error) {
      if (error instanceof SyncError) return { complete: false };
      throw error;
    }
  }
  return { complete: before === null };
};
