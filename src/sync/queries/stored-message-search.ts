import { type StoredBody, searchTextOfBody } from "#contract/conversations.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import { conversationResultsMax } from "#contract/limits.ts";
import { foldText } from "#contract/text.ts";
import type { LocalConversationRow, LocalMessageRow, LocalStore, PersonRow } from "#sync/store/database.ts";
import { readMemberProfiles } from "#sync/store/members.ts";
import type { SyncContext } from "#sync/store/sync-context.ts";
import { ConversationScan, FoldedQuery, type TextBlockCache } from "./text-blocks.ts";

/** After the newest messages of all conversations, a pass searches blocks of each, and each further pass four times as many. */
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

/** `hasMore`: there are more results than requested. `full`: conversations with as many results as one may have. */
export type StoredSearchEnd = { hasMore: boolean; full: ReadonlySet<ConversationId> };

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
  { row, seqs }: ConversationScan,
  query: FoldedQuery,
): Promise<LocalMessageRow[]> => {
  const rows = await store.messages.bulkGet(seqs.map((seq): [ConversationId, number] => [row.id, seq]));
  return rows.flatMap((message) => (message && query.matches(foldText(searchTextOfBody(message.body))) ? message : []));
};

/** Results of all conversations, read when they are first shown. */
class StoredResults {
  readonly #context: SyncContext;
  readonly #query: FoldedQuery;
  readonly #scans: readonly ConversationScan[];
  readonly #read = new Map<ConversationId, { count: number; messages: FoundMessage[] }>();

  constructor(context: SyncContext, query: FoldedQuery, scans: readonly ConversationScan[]) {
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
const listScans = async ({ store }: SyncContext): Promise<ConversationScan[]> => {
  const rows = (await store.conversations.toArray()).filter(({ gone }) => !gone);
  return rows.sort((a, b) => b.lastAt - a.lastAt).map((row) => new ConversationScan(row, conversationResultsMax));
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
  const options = { scans: await listScans(context), cache, query: new FoldedQuery("") };
  await searchNewest(context, options, async () => {}, signal);
};

/**
 * Searches the messages on this device in all conversations: first the newest messages of each, then the older ones.
 * `onResults` receives the first `max` results so far, those of the conversation with the newest message first.
 */
export const searchStoredMessages = async (
  context: SyncContext,
  { query: text, cache, max }: { query: string; cache: TextBlockCache; max: number },
  onResults: (results: FoundMessage[]) => void,
  signal: AbortSignal,
): Promise<StoredSearchEnd> => {
  const { store } = context;
  const query = new FoldedQuery(text);
  const end = { hasMore: false, full: new Set<ConversationId>() };
  if (query.isEmpty) return end;
  const scans = await listScans(context);
  const results = new StoredResults(context, query, scans);
  const countFound = () => scans.reduce((sum, { seqs }) => sum + seqs.length, 0);
  let shown = 0;
  let shownAt = Number.NEGATIVE_INFINITY;
  const show = async (): Promise<void> => {
    const found = countFound();
    if (found === shown || shown >= max || signal.aborted) return;
    const messages = await results.list(max);
    if (signal.aborted) return;
    [shown, shownAt] = [found, performance.now()];
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
  for (const { row, isFull } of scans) if (isFull) end.full.add(row.id);
  return { ...end, hasMore: countFound() > max };
};
