import type { ConversationId } from "#contract/ids.ts";
import { type PendingMessageFlags, toPendingMessageFlagsKey } from "#sync/store/pending/pending-message-flags.ts";
import { retryOnQuotaError } from "#sync/store/sync-context.ts";
import { requireContext, type SyncPort } from "#sync/store/sync-port.ts";

/**
 * Stars a message, or removes the star: at once on this device, and on the server when it is reachable. Rejects if this
 * device cannot store it.
 */
export const setMessageStarred = async (
  port: SyncPort,
  conversation: ConversationId,
  seq: number,
  starred: boolean,
): Promise<void> => {
  const context = requireContext(port);
  const { strict, platform } = context;
  await retryOnQuotaError(context, () =>
    strict.transaction("rw", [strict.meta, strict.conversations], async () => {
      const epoch = (await strict.conversations.get(conversation))?.epoch ?? "";
      const value: PendingMessageFlags = { conversation, seq, epoch, at: platform.now(), starred };
      await strict.meta.put({ key: toPendingMessageFlagsKey(conversation, seq), value });
    }),
  );
  port.notifyChanged("outbox");
};
