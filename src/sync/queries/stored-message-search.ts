import { type StoredBody, searchTextOfBody } from "#contract/conversations.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import { conversationResultsMax } from "#contract/limits.ts";
import { foldText } from "#contract/text.ts";
import type { LocalConversationRow, LocalMessageRow, LocalStore, PersonRow } from "#sync/store/database.ts";
import { readMemberProfiles } from "#sync/store/members.ts";
import type { SyncContext } from "#sync/store/sync-context.ts";
import { ConversationScan, FoldedQuery, type TextBlockCache } from "./text-blocks.ts";

/** Blocks of each conversation in the first pass. Each further pass searches four times as many. */
const firstPassBlocks = 1;
const passFactor = 4;
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
  const rows = (await store.conversations.toArray()).filter(({ gone }) => !gone);
  const scans = rows
    .sort((a, b) => b.lastAt - a.lastAt)
    .map((row) => new ConversationScan(row, conversationResultsMax));
  const results = new StoredResults(context, query, scans);
  const countFound = () => scans.reduce((sum, { seqs }) => sum + seqs.length, 0);
  let shown = 0;
  let shownAt = Number.NEGATIVE_INFINITY;
  const show = async (): Promise<void> => {
    const found = countFound();
    if (found === shown || shown >= max) return;
    const messages = await results.list(max);
    if (signal.aborted) return;
    [shown, shownAt] = [found, performance.now()];
    onResults(messages);
  };
  for (let pending = scans, blocks = firstPassBlocks; pending.length > 0; blocks *= passFactor) {
    for (const scan of pending) {
      for (let count = 0; count < blocks && !scan.isDone && !signal.aborted; count++)
        await scan.advance(store, cache, query);
      if (signal.aborted) return end;
      if (performance.now() - shownAt >= showEveryMs) await show();
    }
    pending = pending.filter(({ isDone }) => !isDone);
  }
  await show();
  for (const { row, isFull } of scans) if (isFull) end.full.add(row.id);
  return { ...end, hasMore: countFound() > max };
};
