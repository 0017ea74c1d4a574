import type { CallBody } from "#contract/calls/call.ts";
import type { ConversationId } from "#contract/ids.ts";
import type { LocalMessageRow, LocalStore, MetaRow } from "#sync/store/database.ts";

/**
 * Call entries of all conversations, each also a row in `meta`: `messages` has no index of its kinds, and the list of
 * calls must not read all messages.
 */

/** Start of the keys in `meta`. */
export const callEntryPrefix = "call:";
const seqDigits = 12;

/** Call in the list of recent calls. `mine`: this person was the caller. */
export type RecentCall = { conversation: ConversationId; seq: number; at: number; mine: boolean; body: CallBody };

const toConversationPrefix = (conversation: ConversationId): string => `${callEntryPrefix}${conversation}:`;
const toCallEntryKey = (conversation: ConversationId, seq: number): string =>
  toConversationPrefix(conversation) + String(seq).padStart(seqDigits, "0");

/** Records the calls among messages that are stored. */
export const recordCalls = async (store: LocalStore, messages: readonly LocalMessageRow[]): Promise<void> => {
  const entries = messages.flatMap(({ conversation, seq, at, mine, body }): MetaRow[] => {
    if (body.type !== "call") return [];
    const value: RecentCall = { conversation, seq, at, mine: mine === 1, body };
    return [{ key: toCallEntryKey(conversation, seq), value }];
  });
  if (entries.length > 0) await store.meta.bulkPut(entries);
};

/** Removes the recorded calls of a conversation with `seq <= upTo`. */
export const deleteRecordedCalls = async (
  store: LocalStore,
  conversation: ConversationId,
  upTo = Number.MAX_SAFE_INTEGER,
): Promise<void> => {
  const keys = await store.meta.where("key").startsWith(toConversationPrefix(conversation)).primaryKeys();
  const last = upTo === Number.MAX_SAFE_INTEGER ? undefined : toCallEntryKey(conversation, upTo);
  await store.meta.bulkDelete(keys.filter((key) => last === undefined || key <= last));
};
