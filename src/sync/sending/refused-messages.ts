import type { ErrorCode } from "#contract/errors.ts";
import type { Uuid } from "#contract/ids.ts";
import { deleteCachedFiles } from "#sync/store/storage-quota.ts";
import type { SyncContext } from "#sync/store/sync-context.ts";
import { changeMessage, discardMessage } from "#sync/unsent/messages.ts";
import { findUploadFile, type OutboxRow } from "#sync/unsent/outbox-row.ts";

/** Updates an unsent message: in the image at once, so that a full device need not store it. */
export const updateMessage = ({ unsent, platform }: SyncContext, cid: Uuid, change: Partial<OutboxRow>): void =>
  void unsent.changeAll([changeMessage(cid, platform.now(), (row) => ({ ...row, ...change }))]).catch(() => undefined);

/** Marks a message as failed; from then on only its author can retry it. */
export const markFailed = (context: SyncContext, cid: Uuid, error: ErrorCode): void =>
  updateMessage(context, cid, { state: "failed", error });

/** Discards an unsent message whose deletion the server already knows, such as one that a backup restored. */
export const discardCancelledMessage = async (context: SyncContext, row: OutboxRow): Promise<void> => {
  const { unsent, platform } = context;
  await unsent.changeAll(discardMessage(unsent, row, platform.now())).catch(() => undefined);
  const file = findUploadFile(row);
  if (file !== undefined) await deleteCachedFiles(context, [file]);
  void platform.deleteFirstViews();
};

/**
 * Queues a file for another upload: the server deletes a file after a while if no message names it. Resolves to false
 * if the bytes are not on this device or the code cannot be loaded.
 */
export const requeueExpiredFile = async (context: SyncContext, file: Uuid): Promise<boolean> => {
  const rows = await import("./files/requeue-upload.ts").catch(() => undefined);
  return (await rows?.requeueUpload(context, file)) ?? false;
};
