import type { InboxRow, Message } from "#contract/conversations.ts";
import type { ConversationId } from "#contract/ids.ts";
import type { LocalConversationRow, LocalMessageRow, LocalStore } from "#sync/store/database.ts";

/**
 * A server that was restored from an earlier copy goes on from there: its log and the one held here are the same up to
 * some place and differ after it. Times never decrease from place to place and no two lives of a log store the same
 * message at the same millisecond, so two logs with the same time at a place are the same up to that place.
 *
 * A row that is found to differ is marked. What is held stays readable until the newest page of the server's log is here
 * and takes its place; own messages that are not in that log are sent again under their client ids.
 */

/** Beyond every message: the question for the newest page of a marked row. */
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

/** Whether the message held at a place is another one than the server tells of. */
export const isDifferentMessage = (held: LocalMessageRow, told: Pick<Message, "at" | "sender" | "cid">): boolean =>
  held.at !== told.at ||
  (held.cid !== undefined && told.cid !== undefined ? held.cid !== told.cid : held.sender !== told.sender);

/** Whether any of these messages stands where another one is held. */
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

/** Whether a row of the inbox speaks of other messages than are held here. */
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

/** The conversations that a transaction found to differ; `isInDoubt` when the server has to say everything anew. */
type ForkCollector = { readonly logResets: ConversationId[]; needsFullResync: boolean };

/** Marks a row whose messages are not the server's. `head` is the newest place told, `inbox` the row it was told by. */
export const markForked = (work: ForkCollector, row: LocalConversationRow, head: number, inbox?: InboxRow): void => {
  const before = row.forked;
  const told = inbox ?? before?.row;
  const mine = inbox ? undefined : before?.mine; // a row says it as well
  row.forked = {
    head: inbox ? head : Math.max(head, before?.head ?? 0),
    ...(told ? { row: told } : {}),
    ...(mine ? { mine } : {}),
  };
  if (!before) work.logResets.push(row.id); // what is told of a marked row before its page comes is no further fork
  // The server did not say that it was restored: what it says of every conversation is compared with what is here.
  if (!before && inbox === undefined) work.needsFullResync = true;
};
