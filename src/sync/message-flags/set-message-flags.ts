import type { ConversationId } from "#contract/ids.ts";
import { getContext } from "#sync/outbox/enqueue.ts";
import { type PendingMessageFlags, toPendingMessageFlagsKey } from "#sync/store/pending/pending-message-flags.ts";
import { retryOnQuotaError } from "#sync/store/sync-context.ts";
import type { Tab } from "#sync/tabs/tab.ts";

/**
 * Stars a message, or removes the star: at once on this device, and on the server when it is reachable. Rejects if this
 * device cannot store it.
 */
export const setMessageStarred = async (
  tab: Tab,
  conversation: ConversationId,
  seq: number,
  starred: boolean,
): Promise<void> => {
  const context = getContext(tab);
  const { strict, platform } = context;
  await retryOnQuotaError(context, () =>
    strict.transaction("rw", [strict.meta, strict.conversations], async () => {
      const epoch = (await strict.conversations.get(conversation))?.epoch ?? "";
      const value: PendingMessageFlags = { conversation, seq, epoch, at: platform.now(), starred };
      await strict.meta.put({ key: toPendingMessageFlagsKey(conversation, seq), value });
    }),
  );
  tab.notifyOutboxChanged();
};
