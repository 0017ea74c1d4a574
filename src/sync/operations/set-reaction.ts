import type { ConversationId } from "#contract/ids.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import { commitUnsent } from "#sync/store/sync-context.ts";
import { requireContext, type SyncPort } from "#sync/store/sync-port.ts";
import type { ChatItem } from "#sync/store/view-models.ts";
import { reactions } from "#sync/unsent/operations.ts";

/**
 * Sets this person's reaction to a message, null for none. It is shown at once and sent when the message and the server
 * can be reached. Rejects with a SyncError.
 */
export const setPendingReaction = async (
  port: SyncPort,
  conversation: ConversationId,
  { seq, cid }: Pick<ChatItem, "seq" | "cid">,
  emoji: string | null,
): Promise<void> => {
  const context = requireContext(port);
  const target = seq ?? cid;
  if (target === undefined) throw new SyncError("unavailable");
  const epoch = (await context.store.conversations.get(conversation))?.epoch ?? "";
  await commitUnsent(context, [
    ...(cid === undefined ? [] : [reactions.remove({ conversation, target: cid })]),
    reactions.put({ conversation, target, emoji, epoch }, context.platform.now()),
  ]);
  port.notifyChanged("outbox");
};
