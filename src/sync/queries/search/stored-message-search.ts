import type { ConversationId, Uuid } from "#contract/ids.ts";
import { conversationResultsMax } from "#contract/limits/search.ts";
import type { StoredBody } from "#contract/messages/body.ts";
import { toSearchWords } from "#contract/text.ts";
import type { GlobalSearchFilter } from "#contract/wire/global-search.ts";
import { createMessageMatcher, isSearchable } from "#contract/wire/search-filter.ts";
import { createPartMatcher, FoldedQuery } from "#lib/text/search-matching.ts";
import { type GlobalQuery, readConversationFilters } from "#sync/queries/conversation-filter.ts";
import type { LocalConversationRow, LocalMessageRow, LocalStore, PersonRow } from "#sync/store/database.ts";
import { readMemberProfiles } from "#sync/store/members.ts";
import type { SyncContext } from "#sync/store/sync-context.ts";
import { ConversationScan, type TextBlockCache } from "./text-blocks.ts";

/** Blocks that a pass searches in each conversation after its newest messages; each further pass searches more. */
const firstPassBlocks = 1;
const passFactor = 4;
const conversationsAtOnce = 5; // whose newest messages are read side by side
const blocksAtOnce = 4;
const showEveryMs = 100;

/** Message that a search found, with its conversation. */
export type FoundMessage = {
  conversation: ConversationId;
  seq: number;
  at: number;
  mine: boolean;
  sender: number;
  body: StoredBody;
  group: LocalConversationRow["group"];
  peer: Uuid | undefined;
  person: PersonRow | undefined;
  /** Name of the sender in a group, as far as it is stored. */
  senderName: string | undefined;
};

/**
 * `hasMore`: there are more results than requested. `rows`: conversations as they were when the search began, the one
 * with the newest message first. `full`: those with as many results as one may have. `past`: those whose older messages
 * are all too old for the filter.
 */
export type StoredSearchEnd = {
  hasMore: boolean;
  rows: readonly LocalConversationRow[];
  full: ReadonlySet<ConversationId>;
  past: ReadonlySet<ConversationId>;
};

/** Whether a query looks for something. One of combining marks alone does not. */
export const canSearch = ({ query, filter }: GlobalQuery): boolean =>
  isSearchable({ query: query.trim(), filter }) && (query.trim() === "" || !new FoldedQuery(query).isEmpty);

/** Whether the server looks for something: it finds words by their beginnings, and no signs. */
export const canSearchServer = ({ query, filter }: GlobalQuery): boolean =>
  canSearch({ query, filter }) && (query.trim() === "" || toSearchWords(query).length > 0);

/** Messages of one conversation as results. */
export const toFoundMessages = async (
  { store, me }: SyncContext,
  { id, group, peer }: LocalConversationRow,
  messages: readonly LocalMessageRow[],
): Promise<FoundMessage[]> => {
  const [person, profiles] = await Promise.all([
    peer === undefined ? undefined : store.people.get(peer),
    group ? readMemberProfiles(store, me, id, [...new Set(messages.map(({ sender }) => sender))]) : undefined,
  ]);
  return messages.map(({ seq, at, mine, body, sender }) => ({
    ...{ conversation: id, seq, at, mine: mine === 1, sender, body },
    ...{ group, peer, person, senderName: profiles?.[sender]?.name },
  }));
};

/** Messages that still match: one may have been changed or deleted since its text was read. */
const readMatches = async (
  store: LocalStore,
  { row, seqs, filter }: ConversationScan,
  query: string,
): Promise<LocalMessageRow[]> => {
  const isMatch = createMessageMatcher(createPartMatcher(query), filter);
  const rows = await store.messages.bulkGet(seqs.map((seq): [ConversationId, number] => [row.id, seq]));
  return rows.flatMap((message) => (message && isMatch(message) ? message : []));
};

/** Results of all conversations, read when they are first shown. */
class StoredResults {
  readonly #context: SyncContext;
  readonly #query: string;
  readonly #scans: readonly ConversationScan[];
  readonly #read = new Map<ConversationId, { count: number; messages: FoundMessage[] }>();

  constructor(context: SyncContext, query: string, scans: readonly ConversationScan[]) {
    this.#context = context;
    this.#query = query;
    this.#scans = scans;
  }

  /** The first results, at most `max`, in the order of the conversations. */
  async list(max: number): Promise<FoundMessage[]> {
    const messages: FoundMessage[] = [];
    for (const scan of this.#scans) {
      if (scan.seqs.length > 0) messages.push(...(await this.#readConversation(scan)));
      if (messages.length >= max) break;
    }
    return messages.slice(0, max);
  }

  async #readConversation(scan: ConversationScan): Promise<FoundMessage[]> {
    const known = this.#read.get(scan.row.id);
    const count = scan.seqs.length;
    if (known?.count === count) return known.messages;
    const rows = await readMatches(this.#context.store, scan, this.#query);
    const messages = await toFoundMessages(this.#context, scan.row, rows);
    this.#read.set(scan.row.id, { count, messages });
    return messages;
  }
}

/** Conversations of this device, the one with the newest message first. */
export const listConversations = async ({ store }: SyncContext): Promise<LocalConversationRow[]> =>
  (await store.conversations.toArray()).filter(({ gone }) => !gone).sort((a, b) => b.lastAt - a.lastAt);

/** Searches through the conversations that may have messages that pass a filter, as far as this device knows. */
const toScans = async (
  context: SyncContext,
  rows: readonly LocalConversationRow[],
  filter?: GlobalSearchFilter,
): Promise<ConversationScan[]> => {
  const toFilter = await readConversationFilters(context, filter);
  return rows.flatMap((row) => {
    const ofRow = toFilter(row);
    return typeof ofRow === "string" ? [] : new ConversationScan(row, conversationResultsMax, ofRow);
  });
};

/** Searches the newest messages of all conversations. */
const searchNewest = async (
  { store }: SyncContext,
  { scans, cache, query }: { scans: readonly ConversationScan[]; cache: TextBlockCache; query: FoldedQuery },
  onSearched: () => Promise<void>,
  signal: AbortSignal,
): Promise<void> => {
  for (let index = 0; index < scans.length && !signal.aborted; index += conversationsAtOnce) {
    const group = scans.slice(index, index + conversationsAtOnce);
    await Promise.all(group.map((scan) => scan.advance(store, cache, query)));
    await onSearched();
  }
};

/** Reads the newest messages of all conversations, so that the search for the first letters finds them in memory. */
export const prepareSearch = async (
  context: SyncContext,
  cache: TextBlockCache,
  signal: AbortSignal,
): Promise<void> => {
  const scans = await toScans(context, await listConversations(context));
  const options = { scans, cache, query: new FoldedQuery("") };
  await searchNewest(context, options, async () => {}, signal);
};

/**
 * Searches the messages on this device in all conversations: first the newest messages of each, then the older ones.
 * `onResults` receives the `first` results, then the first `max` results so far, those of the conversation with the
 * newest message first.
 */
export const searchStoredMessages = async (
  context: SyncContext,
  { query: text, filter, cache, first, max }: GlobalQuery & { cache: TextBlockCache; first: number; max: number },
  onResults: (results: FoundMessage[]) => void,
  signal: AbortSignal,
): Promise<StoredSearchEnd> => {
  const { store } = context;
  const query = new FoldedQuery(text);
  const rows = canSearch({ query: text, filter }) ? await listConversations(context) : [];
  const end = { hasMore: false, rows, full: new Set<ConversationId>(), past: new Set<ConversationId>() };
  const scans = await toScans(context, rows, filter);
  const results = new StoredResults(context, text, scans);
  const countFound = () => scans.reduce((sum, { seqs }) => sum + seqs.length, 0);
  let shown = 0;
  let shownAt = Number.NEGATIVE_INFINITY;
  const show = async (): Promise<void> => {
    const found = countFound();
    if (found === shown || shown >= max || signal.aborted) return;
    const isFirst = shown === 0;
    const messages = await results.list(isFirst ? first : max);
    if (signal.aborted) return;
    [shown, shownAt] = [isFirst ? messages.length : found, performance.now()];
    onResults(messages);
  };
  const showSometimes = async (): Promise<void> => {
    if (performance.now() - shownAt >= showEveryMs) await show();
  };
  await searchNewest(context, { scans, cache, query }, showSometimes, signal);
  for (let blocks = firstPassBlocks; !scans.every(({ isDone }) => isDone); blocks *= passFactor) {
    for (const scan of scans) {
      for (let count = 0; count < blocks && !scan.isDone && !signal.aborted; count += blocksAtOnce)
        await scan.advance(store, cache, query, Math.min(blocks - count, blocksAtOnce));
      if (signal.aborted) return end;
      await showSometimes();
    }
  }
  await show();
  for (const { row, isFull, isPast } of scans) {
    if (isFull) end.full.add(row.id);
    if (isPast) end.past.add(row.id);
  }
  return { ...end, hasMore: countFound() > max };
};
