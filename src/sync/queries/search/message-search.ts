import type { ConversationId } from "#contract/ids.ts";
import { toSearchWords } from "#contract/text.ts";
import type { CommandOf, SearchResult } from "#contract/wire/commands.ts";
import { createMessageMatcher, isSearchable } from "#contract/wire/search-filter.ts";
import { createPartMatcher, FoldedQuery } from "#lib/text/search-matching.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import type { LocalConversationRow, LocalMessageRow } from "#sync/store/database.ts";
import { listDeletedSeqs } from "#sync/store/message-flags.ts";
import { toLocalMessageRow, toMessageKey } from "#sync/store/row-mapping.ts";
import type { SyncContext } from "#sync/store/sync-context.ts";
import type { SyncPort } from "#sync/store/sync-port.ts";

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

/** Criteria of a search: a text, a filter, or both. */
export type MessageSearch = Pick<CommandOf<"search">, "query" | "filter">;

const newestSeqs = 30; // searched with every key
const firstResultsMax = 10; // as many as a screen shows, drawn while a person types
const blockSeqs = 500;
const showEveryMs = 100;
const typingPauseMs = 150; // before older messages are searched and the server is asked

/** Ranges of seqs of the stored messages, newest first. The last one has those besides the range without gaps. */
function* toRanges({
  storedFrom,
  storedTo,
}: Pick<LocalConversationRow, "storedFrom" | "storedTo">): Iterable<{ from: number; to: number }> {
  let [from, to] = [storedTo - newestSeqs + 1, Number.MAX_SAFE_INTEGER];
  while (from > Math.max(storedFrom, 1)) {
    yield { from, to };
    [from, to] = [from - blockSeqs, from - 1];
  }
  yield { from: 1, to };
}

/** Stored messages that match, newest first, those of one range at a time. */
async function* searchLocally(
  { store, unsent }: Pick<SyncContext, "store" | "unsent">,
  conversation: ConversationId,
  { query, filter }: MessageSearch,
  stored: Pick<LocalConversationRow, "storedFrom" | "storedTo">,
): AsyncIterable<LocalMessageRow[]> {
  const isMatch = createMessageMatcher(createPartMatcher(query), filter);
  const deleted = listDeletedSeqs(unsent, conversation);
  for (const { from, to } of toRanges(stored)) {
    // In ascending order the store returns all of them at once.
    const rows = await store.queryMessages(conversation, from, to).toArray();
    yield rows.reverse().filter((message) => isMatch(message) && !deleted.has(message.seq));
  }
}

/**
 * Page of search results from the server. If there were too many requests, it waits as long as the server says, which
 * sets the pace at which a long history is searched. Undefined if the search was aborted meanwhile. Rejects with a
 * SyncError.
 */
export const requestSearchPage = async (
  port: SyncPort,
  command: CommandOf<"search">,
  signal: AbortSignal | undefined,
): Promise<SearchResult | undefined> => {
  while (!signal?.aborted) {
    try {
      return await port.request(command, signal);
    } catch (error) {
      if (!(error instanceof SyncError) || error.code !== "rate_limited" || error.retryAfterMs === undefined)
        throw error;
      const { retryAfterMs } = error;
      await new Promise<void>((resolve) => port.platform.startTimer(retryAfterMs, resolve));
    }
  }
  return undefined;
};

/**
 * `isComplete`: everything was searched. `hasOlder`: there are messages that only the server has. It finds words by
 * their beginnings, and none for a query of signs alone.
 */
export type SearchEnd = { isComplete: boolean; hasOlder: boolean };

/**
 * Searches the stored messages, then the rest of the history page by page on the server. The newest stored messages are
 * searched at once, everything else when no other search has replaced this one within `typingPauseMs`.
 */
export const searchMessages = async (
  port: SyncPort,
  conversation: ConversationId,
  { query, filter }: MessageSearch,
  onResults: (hits: SearchHit[]) => void,
  signal?: AbortSignal,
): Promise<SearchEnd> => {
  const context = port.context.get();
  const search: MessageSearch = { query: query.trim(), ...(filter ? { filter } : {}) };
  const isEmpty = search.query !== "" && new FoldedQuery(search.query).isEmpty;
  if (!context || isEmpty || !isSearchable(search)) return { isComplete: true, hasOlder: false };
  const pause = new Promise<void>((resolve) => port.platform.startTimer(typingPauseMs, resolve));
  const hits = new Map<number, SearchHit>();
  const show = (max?: number) => {
    if (!signal?.aborted) onResults([...hits.values()].sort((a, b) => b.seq - a.seq).slice(0, max));
  };
  const row = await context.store.conversations.get(conversation);
  let nextShowAt = 0;
  for await (const messages of searchLocally(context, conversation, search, row ?? { storedFrom: 0, storedTo: 0 })) {
    for (const message of messages) hits.set(message.seq, toSearchHit(message));
    if (messages.length > 0 && performance.now() >= nextShowAt) {
      show(nextShowAt === 0 ? firstResultsMax : undefined);
      nextShowAt = performance.now() + showEveryMs;
    }
    await pause;
    if (signal?.aborted) return { isComplete: false, hasOlder: false };
  }
  show();
  if (!row || row.head <= row.hidden) return { isComplete: true, hasOlder: false };
  // Messages from `storedFrom` on were searched here, unless the newest ones are not stored.
  let before: number | null = row.storedTo >= row.head ? row.storedFrom : row.head + 1;
  if (before <= row.hidden + 1) return { isComplete: true, hasOlder: false };
  const hasOnlySigns = search.query !== "" && toSearchWords(search.query).length === 0;
  if (hasOnlySigns) return { isComplete: true, hasOlder: true };
  while (before !== null && !signal?.aborted) {
    try {
      const page = await requestSearchPage(port, { type: "search", conversation, ...search, before }, signal);
      if (!page) break;
      for (const message of page.messages)
        hits.set(message.seq, toSearchHit(toLocalMessageRow(row, context.me, message)));
      show();
      if (page.before !== null && page.before >= before) break; // no progress
      before = page.before;
    } catch (error) {
      if (error instanceof SyncError) return { isComplete: false, hasOlder: true };
      throw error;
    }
  }
  return { isComplete: before === null, hasOlder: true };
};
