import type { ErrorCode } from "#contract/errors.ts";
import type { Uuid } from "#contract/ids.ts";
import type { OutboxRow } from "#sync/store/database.ts";
import { clearSentText } from "#sync/store/journal.ts";
import { isQuotaError } from "#sync/store/storage-quota.ts";
import { retryOnQuotaError, type SyncContext } from "#sync/store/sync-context.ts";
import { deleteOutboxRow } from "#sync/store/unsent-messages.ts";

/** Updates an unsent message. Resolves to false if the phone has no storage left. */
export const updateOutboxRow = async (
  context: SyncContext,
  cid: Uuid,
  change: Partial<OutboxRow>,
): Promise<boolean> => {
  try {
    await retryOnQuotaError(context, () => context.strict.outbox.update(cid, change));
    return true;
  } catch (error) {
    if (!isQuotaError(error)) throw error;
    return false;
  }
};

/** Marks a message as failed; from then on only its author can retry it. Resolves to false if no storage is left. */
export const markFailed = (context: SyncContext, cid: Uuid, error: ErrorCode): Promise<boolean> =>
  updateOutboxRow(context, cid, { state: "failed", error });

/** Discards an unsent message whose deletion the server already knows, such as one that a backup restored. */
export const discardCancelledMessage = async (context: SyncContext, row: OutboxRow): Promise<void> => {
  const { strict } = context;
  await strict.transaction("rw", [...strict.sendingTables, strict.recordings], () => deleteOutboxRow(strict, row));
  clearSentText(context, row.cid);
  void context.platform.deleteFirstViews();
};

/**
 * Queues a file for another upload: the server deletes a file after a while if no message names it. Resolves to false
 * if the bytes are not on this device or the code cannot be loaded.
 */
export const requeueExpiredFile = async (context: SyncContext, file: Uuid): Promise<boolean> => {
  const rows = await import("#sync/store/upload-rows.ts").catch(() => undefined);
  return (await rows?.requeueUpload(context, file)) ?? false;
};
