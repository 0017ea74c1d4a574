import { type StoredBody, searchTextOfBody } from "#contract/conversations.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import { createSearchMatcher, toSearchWords } from "#contract/text.ts";
import type { LocalConversationRow, LocalMessageRow, LocalStore, PersonRow } from "#sync/store/database.ts";
import { readMemberProfiles } from "#sync/store/members.ts";
import type { SyncContext } from "#sync/store/sync-context.ts";

const batchMessages = 500;
/** Results of one conversation. A search in its chat finds the others. */
export const resultsPerConversationMax = 5;
const storedResultsMax = 50;

/** Message on this device that a search found, with its conversation. */
export type StoredResult = {
  conversation: ConversationId;
  seq: number;
  at: number;
  mine: boolean;
  body: StoredBody;
  group: LocalConversationRow["group"];
  peer: Uuid | undefined;
  person: PersonRow | undefined;
  /** Name of the sender in a group. */
  senderName: string | undefined;
};

/** Newest matching messages of a conversation that its person has not cleared. */
const findInConversation = async (
  store: LocalStore,
  { id, hidden }: LocalConversationRow,
  isMatch: (text: string) => boolean,
  max: number,
  signal: AbortSignal,
): Promise<LocalMessageRow[]> => {
  const found: LocalMessageRow[] = [];
  for (let to = Number.MAX_SAFE_INTEGER; found.length < max && !signal.aborted; ) {
    const batch = await store
      .queryMessages(id, hidden + 1, to)
      .reverse()
      .limit(batchMessages)
      .toArray();
    found.push(...batch.filter(({ body }) => isMatch(searchTextOfBody(body))));
    const last = batch.at(-1);
    if (!last || batch.length < batchMessages) break;
    to = last.seq - 1;
  }
  return found.slice(0, max);
};

const toStoredResults = async (
  store: LocalStore,
  me: Uuid,
  { id, group, peer }: LocalConversationRow,
  messages: readonly LocalMessageRow[],
): Promise<StoredResult[]> => {
  const [person, profiles] = await Promise.all([
    peer === undefined ? undefined : store.people.get(peer),
    group ? readMemberProfiles(store, me, id, [...new Set(messages.map(({ sender }) => sender))]) : undefined,
  ]);
  return messages.map(({ seq, at, mine, body, sender }) => ({
    ...{ conversation: id, seq, at, mine: mine === 1, body },
    ...{ group, peer, person, senderName: profiles?.[sender]?.name },
  }));
};

/**
 * Searches the messages on this device in all conversations, the one with the newest message first. `onResults` receives
 * all results so far, after each conversation that has some.
 */
export const searchStoredMessages = async (
  { store, me }: SyncContext,
  query: string,
  onResults: (results: StoredResult[]) => void,
  signal: AbortSignal,
): Promise<void> => {
  if (toSearchWords(query).length === 0) return;
  const isMatch = createSearchMatcher(query);
  const conversations = (await store.conversations.toArray()).filter(({ gone }) => !gone);
  const results: StoredResult[] = [];
  for (const row of conversations.sort((a, b) => b.lastAt - a.lastAt)) {
    const max = Math.min(resultsPerConversationMax, storedResultsMax - results.length);
    if (max <= 0 || signal.aborted) return;
    const messages = await findInConversation(store, row, isMatch, max, signal);
    if (messages.length === 0 || signal.aborted) continue;
    results.push(...(await toStoredResults(store, me, row, messages)));
    if (!signal.aborted) onResults([...results]);
  }
};
