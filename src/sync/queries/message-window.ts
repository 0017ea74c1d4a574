import type { ConversationId } from "#contract/ids.ts";
import { messagePageRows } from "#contract/limits/conversations.ts";
import { applyServerChanges } from "#sync/inbound/apply/apply-server-changes.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import type { LocalMessageRow } from "#sync/store/database.ts";
import { readStarredSeqs } from "#sync/store/message-flags.ts";
import { hasOlderOnServer, toLocalMessageRow } from "#sync/store/row-mapping.ts";
import type { SyncPort } from "#sync/store/sync-port.ts";
import type { ChatItem } from "#sync/store/view-models.ts";
import { toChatItem } from "./chat-messages.ts";

/**
 * Contiguous part of a conversation's history, newest first. `from` and `to` are the sequence numbers it covers; some
 * of these messages may have nothing to show.
 */
export type MessageWindow = { items: ChatItem[]; from: number; to: number; hasOlder: boolean; hasNewer: boolean };

const readOneSide = async (
  port: SyncPort,
  conversation: ConversationId,
  direction: "before" | "after",
  seq: number,
): Promise<MessageWindow> => {
  const context = port.context.get();
  const row = await context?.store.conversations.get(conversation);
  if (!context || !row) throw new SyncError("unavailable");
  const isOlder = direction === "before";
  const next = isOlder ? seq - 1 : seq + 1;
  let rows: LocalMessageRow[];
  if (next >= row.storedFrom && next <= row.storedTo) {
    const [from, to] = isOlder
      ? [Math.max(row.storedFrom, seq - messagePageRows), next]
      : [next, Math.min(row.storedTo, seq + messagePageRows)];
    rows = await context.store.queryMessages(conversation, from, to).reverse().toArray();
  } else if (next > row.hidden && next <= row.head) {
    const page = await port.request({ type: "page", conversation, direction, seq, limit: messagePageRows });
    rows = page.messages.map((message) => toLocalMessageRow(row, context.me, message));
    rows.sort((a, b) => b.seq - a.seq);
  } else {
    rows = [];
  }
  const starred = await readStarredSeqs(context, conversation);
  const from = rows.at(-1)?.seq ?? (isOlder ? seq : next);
  const to = rows[0]?.seq ?? (isOlder ? next : seq);
  return {
    items: rows.filter(({ body }) => body.type !== "withheld").map((message) => toChatItem(row, message, [], starred)),
    from,
    to,
    hasOlder: !isOlder || (rows.at(-1)?.seq ?? 0) > row.hidden + 1,
    hasNewer: isOlder || (rows[0]?.seq ?? row.head) < row.head,
  };
};

/** Window with the page before `seq`, `seq` itself and the page after it. Rejects with SyncError. */
export const readWindowAround = async (
  port: SyncPort,
  conversation: ConversationId,
  seq: number,
): Promise<MessageWindow> => {
  const [older, newer] = await Promise.all([
    readOneSide(port, conversation, "before", seq + 1),
    readOneSide(port, conversation, "after", seq),
  ]);
  return { ...newer, items: [...newer.items, ...older.items], from: older.from, hasOlder: older.hasOlder };
};

/** Extends a window by one page in one direction. Rejects with SyncError. */
export const extendWindow = async (
  port: SyncPort,
  conversation: ConversationId,
  window: MessageWindow,
  direction: "before" | "after",
): Promise<MessageWindow> => {
  if (direction === "before") {
    const { items, from, hasOlder } = await readOneSide(port, conversation, direction, window.from);
    return { ...window, items: [...window.items, ...items], from, hasOlder };
  }
  const { items, to, hasNewer } = await readOneSide(port, conversation, direction, window.to);
  return { ...window, items: [...items, ...window.items], to, hasNewer };
};

/** Fetches the page before the oldest stored message. Rejects with SyncError. */
export const fetchOlderMessages = async (port: SyncPort, conversation: ConversationId): Promise<void> => {
  const context = port.context.get();
  const row = await context?.store.conversations.get(conversation);
  if (!context || !row || !hasOlderOnServer(row)) return;
  if (row.storedFrom > row.storedTo) return port.prioritizeConversation(conversation);
  const command = {
    type: "page",
    conversation,
    direction: "before",
    seq: row.storedFrom,
    limit: messagePageRows,
  } as const;
  const page = await port.request(command);
  const request = { ...command, head: row.head, revised: row.revised };
  const { rows } = await applyServerChanges(context, [{ type: "page", request, page }]);
  if (rows.some(({ unconfirmed }) => unconfirmed)) port.prioritizeConversation(conversation);
};
