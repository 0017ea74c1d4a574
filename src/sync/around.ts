import type { ConversationId } from "../../contract/ids";
import { messagePageRows } from "../../contract/limits";
import { messageItem } from "./queries";
import { toMessageRow } from "./rows";
import type { MessageRow } from "./store";
import { SyncError } from "./sync-error";
import type { Tab } from "./tab";
import type { ChatItem } from "./views";

/** Some of a conversation's messages without a hole, newest first, anywhere in its history. */
export type Stretch = { items: ChatItem[]; hasOlder: boolean; hasNewer: boolean };

const sideOf = async (
  tab: Tab,
  conversation: ConversationId,
  direction: "before" | "after",
  seq: number,
): Promise<Stretch> => {
  const context = tab.context.get();
  const row = await context?.store.conversations.get(conversation);
  if (!context || !row) throw new SyncError("unavailable");
  const isOlder = direction === "before";
  const next = isOlder ? seq - 1 : seq + 1;
  let rows: MessageRow[];
  if (next >= row.lo && next <= row.hi) {
    const [from, to] = isOlder
      ? [Math.max(row.lo, seq - messagePageRows), next]
      : [next, Math.min(row.hi, seq + messagePageRows)];
    rows = await context.store.range(conversation, from, to).reverse().toArray();
  } else if (next > row.hidden && next <= row.head) {
    const page = await tab.ask({ type: "page", conversation, direction, seq, limit: messagePageRows });
    rows = page.messages.map((message) => toMessageRow(conversation, context.me, message));
    rows.sort((a, b) => b.seq - a.seq);
  } else {
    rows = [];
  }
  return {
    items: rows.map((message) => messageItem(row, message)),
    hasOlder: !isOlder || (rows.at(-1)?.seq ?? 0) > row.hidden + 1,
    hasNewer: isOlder || (rows[0]?.seq ?? row.head) < row.head,
  };
};

/** The stretch with the page before `seq`, `seq` itself and the page after. Rejects with a SyncError. */
export const readAround = async (tab: Tab, conversation: ConversationId, seq: number): Promise<Stretch> => {
  const [older, newer] = await Promise.all([
    sideOf(tab, conversation, "before", seq + 1),
    sideOf(tab, conversation, "after", seq),
  ]);
  return { items: [...newer.items, ...older.items], hasOlder: older.hasOlder, hasNewer: newer.hasNewer };
};

/** A stretch, one page longer at one end. Rejects with a SyncError. */
export const lengthen = async (
  tab: Tab,
  conversation: ConversationId,
  stretch: Stretch,
  direction: "before" | "after",
): Promise<Stretch> => {
  const end = direction === "before" ? stretch.items.at(-1)?.seq : stretch.items[0]?.seq;
  if (end === undefined) return stretch;
  const page = await sideOf(tab, conversation, direction, end);
  return direction === "before"
    ? { ...stretch, items: [...stretch.items, ...page.items], hasOlder: page.hasOlder }
    : { ...stretch, items: [...page.items, ...stretch.items], hasNewer: page.hasNewer };
};
