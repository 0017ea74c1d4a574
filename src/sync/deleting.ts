import { attachmentOf } from "../../contract/conversations";
import type { ConversationId } from "../../contract/ids";
import { withRoom } from "./context";
import { dropFiles } from "./room";
import { isEmptied, noteHead } from "./rows";
import type { MessageRow, Store } from "./store";
import type { Tab } from "./tab";
import { noteWithdrawn } from "./withdrawn";

/** False for a message that cannot be named to the server later. */
const empty = (store: Store, conversation: ConversationId, seq: number): Promise<boolean> =>
  store.transaction("rw", [store.messages, ...store.sending], async () => {
    const held = await store.messages.get([conversation, seq]);
    if (!held?.cid) return false;
    if (isEmptied(held.body)) return true;
    await noteWithdrawn(store, { cid: held.cid, conversation });
    const emptied: MessageRow = { ...held, body: { type: "deleted" } };
    await store.messages.put(emptied);
    const file = attachmentOf(held.body)?.file;
    if (file !== undefined) await dropFiles(store, [file]);
    const row = await store.conversations.get(conversation);
    if (row?.head === seq) {
      noteHead(row, emptied);
      await store.conversations.put(row);
    }
    return true;
  });

/**
 * Deletes one's own message on this device, which is to tell the server once it can. False where that cannot be kept, or
 * not beyond this page: then nothing is done.
 */
export const deleteHere = async (tab: Tab, conversation: ConversationId, seq: number): Promise<boolean> => {
  const context = tab.context.get();
  if (!context || tab.trouble.get() === "memory") return false;
  // Whatever the store's trouble is, it is dealt with elsewhere.
  const isDone = await withRoom(context, () => empty(context.strict, conversation, seq), false).catch(() => false);
  if (isDone) tab.written();
  return isDone;
};
