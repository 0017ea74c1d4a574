import type { ConversationId } from "#contract/ids.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import { type PendingMessageFlags, toPendingMessageFlagsKey } from "#sync/store/pending/pending-message-flags.ts";
import { retryOnQuotaError } from "#sync/store/sync-context.ts";
import { requireContext, type SyncPort } from "#sync/store/sync-port.ts";
import { removeContent } from "./remove-content.ts";

/**
 * Deletes a message for this person alone: at once on this device, also without a network, and on the server when it is
 * reachable. Rejects with a SyncError if this device cannot store it.
 */
export const deleteMessageForSelf = async (
  port: SyncPort,
  conversation: ConversationId,
  seq: number,
): Promise<void> => {
  const context = requireContext(port);
  if (port.isInMemory) throw new SyncError("no_room");
  const { strict, platform } = context;
  await retryOnQuotaError(context, () =>
    strict.transaction("rw", [strict.messages, ...strict.sendingTables], async () => {
      const epoch = (await strict.conversations.get(conversation))?.epoch ?? "";
      const value: PendingMessageFlags = { conversation, seq, epoch, at: platform.now(), deleted: true };
      await strict.meta.put({ key: toPendingMessageFlagsKey(conversation, seq), value });
      await removeContent(context, conversation, [seq]);
    }),
  );
  void platform.deleteFirstViews();
  port.notifyChanged("outbox");
};
