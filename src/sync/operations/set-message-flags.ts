import type { ConversationId } from "#contract/ids.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import { commitUnsent, retryOnQuotaError } from "#sync/store/sync-context.ts";
import { requireContext, type SyncPort } from "#sync/store/sync-port.ts";
import { messageFlags, type Operation } from "#sync/unsent/operations.ts";
import { removeContent } from "./remove-content.ts";

const setFlags = async (
  port: SyncPort,
  conversation: ConversationId,
  seq: number,
  flags: Pick<Operation<"messageFlags">, "starred" | "deleted">,
): Promise<void> => {
  const context = requireContext(port);
  const epoch = (await context.store.conversations.get(conversation))?.epoch ?? "";
  await commitUnsent(context, [messageFlags.put({ conversation, seq, epoch, ...flags }, context.platform.now())]);
};

/**
 * Stars a message, or removes the star: at once on this device, and on the server when it is reachable. Rejects with a
 * SyncError.
 */
export const setMessageStarred = async (
  port: SyncPort,
  conversation: ConversationId,
  seq: number,
  starred: boolean,
): Promise<void> => {
  await setFlags(port, conversation, seq, { starred });
  port.notifyChanged("outbox");
};

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
  const { store, platform } = context;
  await setFlags(port, conversation, seq, { deleted: true }); // first: the content goes only if the server is told
  await retryOnQuotaError(context, () =>
    store.transaction("rw", [store.messages, ...store.contentTables], () =>
      removeContent(context, conversation, [seq]),
    ),
  );
  void platform.deleteFirstViews();
  port.notifyChanged("outbox");
};
