import type { InboxRow, Message } from "#contract/conversations.ts";
import type { ConversationId } from "#contract/ids.ts";
import type { LocalConversationRow, LocalMessageRow, LocalStore } from "#sync/store/database.ts";

/**
 * Detection of log forks. A server restored from an earlier copy continues from there: its log and the stored one are
 * equal up to some sequence number and differ after it. Times never decrease along a log, and two histories of a log
 * never store the same message in the same millisecond. Two logs with the same time at a sequence number are therefore
 * equal up to it.
 *
 * A row that differs is marked as forked. Stored messages stay readable until the newest page of the server's log
 * replaces them. Own messages that are missing in that log are sent again under their client ids.
 */

/** Sequence number beyond every message: requests the newest page of a forked row. */
export const afterNewestSeq = Number.MAX_SAFE_INTEGER;

export const toForkPageCommand = ({ id, lo, hi }: LocalConversationRow, limit: number) =>
  ({
    type: "page",
    conversation: id,
    direction: "before",
    seq: afterNewestSeq,
    limit,
    ...(lo <= hi ? { held: hi } : {}),
  }) as const;

/** Whether the stored message is another one than the server's at the same sequence number. */
export const isDifferentMessage = (held: LocalMessageRow, told: Pick<Message, "at" | "sender" | "cid">): boolean =>
  held.at !== told.at ||
  (held.cid !== undefined && told.cid !== undefined ? held.cid !== told.cid : held.sender !== told.sender);

/** Whether any of these messages differs from the one stored at its sequence number. */
export const hasDifferentMessage = async (
  store: LocalStore,
  row: LocalConversationRow,
  told: readonly Pick<Message, "seq" | "at" | "sender" | "cid">[],
): Promise<boolean> => {
  const known = told.filter(({ seq }) => seq <= row.hi && seq >= row.lo);
  if (known.length === 0) return false;
  const held = await store.messages.bulkGet(known.map(({ seq }) => [row.id, seq]));
  return known.some((message, index) => {
    const one = held[index];
    return one !== undefined && isDifferentMessage(one, message);
  });
};

/** Whether an inbox row contradicts the stored messages by the times of its last two messages. */
export const hasDifferentLog = async (
  store: LocalStore,
  row: LocalConversationRow,
  inbox: InboxRow,
): Promise<boolean> => {
  const places = [
    { seq: inbox.head, at: inbox.at },
    { seq: inbox.head - 1, at: inbox.prior },
  ].filter(({ seq, at }) => at !== null && seq > 0 && seq >= row.lo && seq <= row.hi);
  const held = await store.messages.bulkGet(places.map(({ seq }) => [row.id, seq]));
  return places.some(({ at }, index) => held[index] !== undefined && held[index].at !== at);
};

/** Forks found by a transaction. `needsFullResync`: every conversation has to be compared with the server's. */
type ForkCollector = { readonly logResets: ConversationId[]; needsFullResync: boolean };

/** Marks a row as forked. `head` is the newest sequence number received, `inbox` the inbox row it came in. */
export const markForked = (work: ForkCollector, row: LocalConversationRow, head: number, inbox?: InboxRow): void => {
  const before = row.forked;
  const told = inbox ?? before?.row;
  const mine = inbox ? undefined : before?.mine; // an inbox row contains it as well
  row.forked = {
    head: inbox ? head : Math.max(head, before?.head ?? 0),
    ...(told ? { row: told } : {}),
    ...(mine ? { mine } : {}),
  };
  if (!before) work.logResets.push(row.id); // further updates of a marked row are no further forks
  // The server did not announce that it was restored: every conversation is compared with the server's.
  if (!before && inbox === undefined) work.needsFullResync = true;
};
