import type { InboxRow } from "#contract/conversations.ts";
import type { ConversationId } from "#contract/ids.ts";
import { gapPageRows, messagePageRows } from "#contract/limits/conversations.ts";
import type { Message } from "#contract/messages/message.ts";
import type { LocalConversationRow, LocalMessageRow, LocalStore } from "#sync/store/database.ts";
import { readSyncCursor } from "#sync/store/sync-cursor.ts";

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

const arrivingRows = 10; // messages that may arrive before the answer

/**
 * Newest page of a forked row. It reaches the stored messages if that takes no longer page than the messages after them
 * would, so that they stay if the log is the same.
 */
export const toForkPageCommand = ({ id, storedFrom, storedTo, forked }: LocalConversationRow) => {
  const missing = (forked?.head ?? 0) - storedTo;
  const limit = missing > gapPageRows ? messagePageRows : Math.max(messagePageRows, missing + arrivingRows);
  return {
    type: "page",
    conversation: id,
    direction: "before",
    seq: afterNewestSeq,
    limit: Math.min(gapPageRows, limit),
    ...(storedFrom <= storedTo ? { anchor: storedTo } : {}),
  } as const;
};

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
  const overlapping = received.filter(({ seq }) => seq <= row.storedTo && seq >= row.storedFrom);
  if (overlapping.length === 0) return false;
  const stored = await store.messages.bulkGet(overlapping.map(({ seq }) => [row.id, seq]));
  return overlapping.some((message, index) => {
    const counterpart = stored[index];
    return counterpart !== undefined && isDifferentMessage(counterpart, message);
  });
};

/**
 * Compares an inbox row with the stored messages by the times of its last two messages. Unknown if neither of them is
 * stored.
 */
export const compareLogs = async (
  store: LocalStore,
  row: LocalConversationRow,
  inbox: InboxRow,
): Promise<"same" | "different" | "unknown"> => {
  const candidates = [
    { seq: inbox.head, at: inbox.at },
    { seq: inbox.head - 1, at: inbox.prior },
  ].filter(({ seq, at }) => at !== null && seq > 0 && seq >= row.storedFrom && seq <= row.storedTo);
  const stored = await store.messages.bulkGet(candidates.map(({ seq }) => [row.id, seq]));
  const isSame = candidates.flatMap(({ at }, index) => (stored[index] ? stored[index].at === at : []));
  if (isSame.includes(false)) return "different";
  return isSame.length > 0 ? "same" : "unknown";
};

/**
 * Conversations whose stored messages may belong to another log than the server's: those marked as forked, and while an
 * answer with everything is incomplete, those that are not in it yet. Nothing is sent in them, because the place of a
 * new message would look like one that both logs share.
 */
export const listUnconfirmedLogs = async (
  store: LocalStore,
  rows: readonly LocalConversationRow[],
): Promise<Set<ConversationId>> => {
  const isAwaited = ({ handle, storedFrom, storedTo }: LocalConversationRow) =>
    handle === undefined && storedFrom <= storedTo;
  const isIncomplete = rows.some(isAwaited) && (await readSyncCursor(store)).gaps.length > 0;
  return new Set(rows.flatMap((row) => (row.forked || (isIncomplete && isAwaited(row)) ? row.id : [])));
};

/** Forks found by a transaction. `needsFullResync`: every conversation has to be compared with the server's. */
type ForkCollector = {
  readonly logResets: ConversationId[];
  readonly needsLogCheck: ConversationId[];
  needsFullResync: boolean;
};

/** Marks a row as forked until the newest page has shown whether it is. */
export const markUnconfirmed = (collector: ForkCollector, row: LocalConversationRow, inbox: InboxRow): void => {
  row.forked = { head: inbox.head, row: inbox };
  collector.needsLogCheck.push(row.id);
};

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
