import type { ConversationId } from "#contract/ids.ts";
import { findAttachment } from "#contract/messages/body.ts";
import { withoutContent } from "#contract/settings/message-flags.ts";
import type { LocalMessageRow } from "#sync/store/database.ts";
import { raiseHead, updateMentions } from "#sync/store/row-mapping.ts";
import { deleteCachedFiles } from "#sync/store/storage-quota.ts";
import type { SyncContext } from "#sync/store/sync-context.ts";

/**
 * Replaces messages that the person deleted for themselves by placeholders, and deletes their files and the preview.
 * Messages that are not stored or already replaced are left alone. Requires a transaction over `messages` and the
 * tables of their content.
 */
export const removeContent = async (
  { store, unsent }: Pick<SyncContext, "store" | "unsent">,
  conversation: ConversationId,
  seqs: readonly number[],
): Promise<void> => {
  const stored = await store.messages.bulkGet(seqs.map((seq): [string, number] => [conversation, seq]));
  const removed = stored.flatMap((message) => (message && message.body.type !== "withheld" ? message : []));
  const row = await store.conversations.get(conversation);
  if (removed.length === 0 || !row) return;
  const placeholders: LocalMessageRow[] = removed.map((message) => ({
    ...withoutContent(message),
    conversation,
    mine: message.mine,
  }));
  await store.messages.bulkPut(placeholders);
  await deleteCachedFiles(
    { store, unsent },
    removed.flatMap(({ body }) => findAttachment(body)?.file ?? []),
  );
  for (const message of placeholders) raiseHead(row, message);
  updateMentions(row, placeholders);
  await store.conversations.put(row);
};
