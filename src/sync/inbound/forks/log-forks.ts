import type { InboxRow } from "#contract/conversations.ts";
import type { ConversationId } from "#contract/ids.ts";
import type { Message } from "#contract/messages/message.ts";
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
    ...(lo <= hi ? { anchor: hi } : {}),
  }) as const;

/** Whether the stored message is another one than the server's at the same sequence number. */
export const isDifferentMessage = (
  stored: LocalMessageRow,
  received: Pick<Message, "at" | "sender" | "cid">,
): boolean =>
  stored.at !== received.at ||
  (stored.cid !== undefined && received.cid !== undefined
    ? stored.cid !== received.cid
    : stored.sender !== received.sender);

/** Whether any of these messages differs from the one stored at its sequence number. */
export const hasDifferentMessage = async (
  store: LocalStore,
  row: LocalConversationRow,
  received: readonly Pick<Message, "seq" | "at" | "sender" | "cid">[],
): Promise<boolean> => {
  const overlapping = received.filter(({ seq }) => seq <= row.hi && seq >= row.lo);
  if (overlapping.length === 0) return false;
  const stored = await store.messages.bulkGet(overlapping.map(({ seq }) => [row.id, seq]));
  return overlapping.some((message, index) => {
    const counterpart = stored[index];
    return counterpart !== undefined && isDifferentMessage(counterpart, message);
  });
};

/** Whether an inbox row contradicts the stored messages by the times of its last two messages. */
export const hasDifferentLog = async (
  store: LocalStore,
  row: LocalConversationRow,
  inbox: InboxRow,
): Promise<boolean> => {
  const candidates = [
    { seq: inbox.head, at: inbox.at },
    { seq: inbox.head - 1, at: inbox.prior },
  ].filter(({ seq, at }) => at !== null && seq > 0 && seq >= row.lo && seq <= row.hi);
  const stored = await store.messages.bulkGet(candidates.map(({ seq }) => [row.id, seq]));
  return candidates.some(({ at }, index) => stored[index] !== undefined && stored[index].at !== at);
};

/** Forks found by a transaction. `needsFullResync`: every conversation has to be compared with the server's. */
type ForkCollector = { readonly logResets: ConversationId[]; needsFullResync: boolean };

/** Marks a row as forked. `head` is the newest sequence number received, `inbox` the inbox row it came in. */
export const markForked = (
  collector: ForkCollector,
  row: LocalConversationRow,
  head: number,
  inbox?: InboxRow,
): void => {
  const before = row.forked;
  const received = inbox ?? before?.row;
  const mine = inbox ? undefined : before?.mine; // an inbox row contains it as well
  row.forked = {
    head: inbox ? head : Math.max(head, before?.head ?? 0),
    ...(received ? { row: received } : {}),
    ...(mine ? { mine } : {}),
  };
  if (!before) collector.logResets.push(row.id); // further updates of a marked row are no further forks
  // The server did not announce that it was restored: every conversation is compared with the server's.
  if (!before && inbox === undefined) collector.needsFullResync = true;
};
