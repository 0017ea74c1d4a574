import type { ConversationId } from "#contract/ids.ts";
import { findAttachment } from "#contract/messages/body.ts";
import { isTombstone } from "#contract/messages/kinds.ts";
import type { LocalMessageRow } from "#sync/store/database.ts";
import { raiseHead, withoutReactions } from "#sync/store/row-mapping.ts";
import { deleteCachedFiles } from "#sync/store/storage-quota.ts";
import { retryOnQuotaError, type SyncContext } from "#sync/store/sync-context.ts";
import type { SyncPort } from "#sync/store/sync-port.ts";
import { toDeletion, unsentDeletions } from "#sync/unsent/operations.ts";

const replaceWithTombstone = (
  { store, unsent }: SyncContext,
  conversation: ConversationId,
  seq: number,
): Promise<void> =>
  store.transaction("rw", [store.messages, ...store.contentTables], async () => {
    const held = await store.messages.get([conversation, seq]);
    if (!held || isTombstone(held.body)) return;
    const tombstone: LocalMessageRow = { ...withoutReactions(held), body: { type: "deleted" } };
    await store.messages.put(tombstone);
    const file = findAttachment(held.body)?.file;
    if (file !== undefined) await deleteCachedFiles({ store, unsent }, [file]);
    const row = await store.conversations.get(conversation);
    if (row?.head === seq) {
      raiseHead(row, tombstone);
      await store.conversations.put(row);
    }
  });

/**
 * Deletes an own message on this device and stores a pending deletion for the server. Resolves to false, without any
 * change here, if the deletion cannot be stored durably, or if the message has no client id by which the server could be
 * told later.
 */
export const deleteLocally = async (port: SyncPort, conversation: ConversationId, seq: number): Promise<boolean> => {
  const context = port.context.get();
  if (!context || port.isInMemory) return false;
  const { store, unsent, platform } = context;
  try {
    const held = await store.messages.get([conversation, seq]);
    if (!held?.cid) return false;
    if (!isTombstone(held.body)) {
      const { cid } = held;
      const stored = unsent.changeAll(toDeletion({ cid, conversation }, platform.now()));
      const isKept = await stored.then(
        () => true,
        () => unsent.journalPending(),
      );
      if (!isKept) {
        unsent.stage([unsentDeletions.remove({ cid })]);
        return false;
      }
      await retryOnQuotaError(context, () => replaceWithTombstone(context, conversation, seq), false);
    }
  } catch {
    return false; // other code reports and repairs failures of the store
  }
  void platform.deleteFirstViews();
  port.notifyChanged("outbox");
  return true;
};
