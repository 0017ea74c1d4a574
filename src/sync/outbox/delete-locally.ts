import { findAttachment } from "#contract/conversations.ts";
import type { ConversationId } from "#contract/ids.ts";
import type { LocalMessageRow, LocalStore } from "#sync/store/database.ts";
import { insertPendingDeletion } from "#sync/store/pending-deletions.ts";
import { isTombstone, raiseHead } from "#sync/store/row-mapping.ts";
import { deleteCachedFiles } from "#sync/store/storage-quota.ts";
import { retryOnQuotaError } from "#sync/store/sync-context.ts";
import type { Tab } from "#sync/tabs/tab.ts";

/** False for a message that cannot be named to the server later. */
const replaceWithTombstone = (store: LocalStore, conversation: ConversationId, seq: number): Promise<boolean> =>
  store.transaction("rw", [store.messages, ...store.sendingTables], async () => {
    const held = await store.messages.get([conversation, seq]);
    if (!held?.cid) return false;
    if (isTombstone(held.body)) return true;
    await insertPendingDeletion(store, { cid: held.cid, conversation });
    const emptied: LocalMessageRow = { ...held, body: { type: "deleted" } };
    await store.messages.put(emptied);
    const file = findAttachment(held.body)?.file;
    if (file !== undefined) await deleteCachedFiles(store, [file]);
    const row = await store.conversations.get(conversation);
    if (row?.head === seq) {
      raiseHead(row, emptied);
      await store.conversations.put(row);
    }
    return true;
  });

/**
 * Deletes one's own message on this device, which is to tell the server once it can. False where that cannot be kept, or
 * not beyond this page: then nothing is done.
 */
export const deleteLocally = async (tab: Tab, conversation: ConversationId, seq: number): Promise<boolean> => {
  const context = tab.context.get();
  if (!context || tab.storageIssue.get() === "memory") return false;
  // Whatever the store's trouble is, it is dealt with elsewhere.
  const isDone = await retryOnQuotaError(
    context,
    () => replaceWithTombstone(context.strict, conversation, seq),
    false,
  ).catch(() => false);
  if (isDone) tab.notifyOutboxChanged();
  return isDone;
};
