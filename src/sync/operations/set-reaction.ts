import type { ConversationId } from "#contract/ids.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import { type PendingReaction, toPendingReactionKey } from "#sync/store/pending/pending-reactions.ts";
import { retryOnQuotaError } from "#sync/store/sync-context.ts";
import type { SyncPort } from "#sync/store/sync-port.ts";
import type { ChatItem } from "#sync/store/view-models.ts";

/**
 * Sets this person's reaction to a message, null for none. It is shown at once and sent when the message and the server
 * can be reached. Rejects if this device cannot store it.
 */
export const setPendingReaction = async (
  port: SyncPort,
  conversation: ConversationId,
  { seq, cid }: Pick<ChatItem, "seq" | "cid">,
  emoji: string | null,
): Promise<void> => {
  const context = port.context.get();
  const target = seq ?? cid;
  if (!context || target === undefined) throw new SyncError("unavailable");
  const { strict } = context;
  const isStored = await retryOnQuotaError(context, () =>
    strict.transaction("rw", [strict.meta, strict.conversations], async () => {
      const epoch = (await strict.conversations.get(conversation))?.epoch ?? "";
      const reaction: PendingReaction = { conversation, target, emoji, epoch };
      if (cid !== undefined) await strict.meta.delete(toPendingReactionKey(conversation, cid));
      await strict.meta.put({ key: toPendingReactionKey(conversation, target), value: reaction });
    }),
  );
  port.notifyChanged("outbox");
  return isStored;
};
