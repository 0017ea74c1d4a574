import type { ConversationId } from "#contract/ids.ts";
import { findAttachment } from "#contract/messages/body.ts";
import { isTombstone } from "#contract/messages/kinds.ts";
import type { LocalMessageRow } from "#sync/store/database.ts";
import { insertPendingDeletion } from "#sync/store/pending/pending-deletions.ts";
import { raiseHead, withoutReactions } from "#sync/store/row-mapping.ts";
import { deleteCachedFiles } from "#sync/store/storage-quota.ts";
import { retryOnQuotaError, type SyncContext } from "#sync/store/sync-context.ts";
import type { SyncPort } from "#sync/store/sync-port.ts";

/** Resolves to false for a message without a client id, because the server could not be told later. */
const replaceWithTombstone = (
  { strict: store, unsent }: SyncContext,
  conversation: ConversationId,
  seq: number,
): Promise<boolean> =>
  store.transaction("rw", [store.messages, ...store.sendingTables], async () => {
    const held = await store.messages.get([conversation, seq]);
    if (!held?.cid) return false;
    if (isTombstone(held.body)) return true;
    await insertPendingDeletion(store, { cid: held.cid, conversation });
    const tombstone: LocalMessageRow = { ...withoutReactions(held), body: { type: "deleted" } };
    await store.messages.put(tombstone);
    const file = findAttachment(held.body)?.file;
    if (file !== undefined) await deleteCachedFiles({ store, unsent }, [file]);
    const row = await store.conversations.get(conversation);
    if (row?.head === seq) {
      raiseHead(row, tombstone);
      await store.conversations.put(row);
    }
    return true;
  });

/**
 * Deletes an own message on this device and stores a pending deletion for the server. Resolves to false, without any
 * change, if the deletion cannot be stored durably.
 */
export const deleteLocally = async (port: SyncPort, conversation: ConversationId, seq: number): Promise<boolean> => {
  const context = port.context.get();
  if (!context || port.isInMemory) return false;
  // Other code reports and repairs failures of the store.
  const isDone = await retryOnQuotaError(context, () => replaceWithTombstone(context, conversation, seq), false).catch(
    () => false,
  );
  if (!isDone) return false;
  void context.platform.deleteFirstViews();
  port.notifyChanged("outbox");
  return true;
};
