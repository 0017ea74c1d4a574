import { attachmentOf } from "#contract/conversations.ts";
import type { ConversationId } from "#contract/ids.ts";
import { withRoom } from "#sync/store/context.ts";
import type { MessageRow, Store } from "#sync/store/database.ts";
import { noteWithdrawn } from "#sync/store/pending-deletion-rows.ts";
import { isEmptied, noteHead } from "#sync/store/row-mapping.ts";
import { dropFiles } from "#sync/store/storage-quota.ts";
import type { Tab } from "#sync/tabs/tab.ts";

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
