import type { ErrorCode } from "#contract/errors.ts";
import type { Uuid } from "#contract/ids.ts";
import type { OutboxRow } from "#sync/store/database.ts";
import { clearSentText } from "#sync/store/journal.ts";
import { isQuotaError } from "#sync/store/storage-quota.ts";
import { retryOnQuotaError, type SyncContext } from "#sync/store/sync-context.ts";
import { removeUnsentMessage } from "#sync/store/unsent-messages.ts";

/** What becomes of a message that waits to be sent and was not taken. False on a phone without any room. */
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

/** From here on only its author can have it sent again. */
export const markFailed = (context: SyncContext, cid: Uuid, error: ErrorCode): Promise<boolean> =>
  updateOutboxRow(context, cid, { state: "failed", error });

/** Its author has deleted it: a copy of it was left here. */
export const removeCancelledMessage = async (context: SyncContext, row: OutboxRow): Promise<void> => {
  const { strict } = context;
  await strict.transaction("rw", [...strict.sendingTables, strict.recordings], () => removeUnsentMessage(strict, row));
  clearSentText(context, row.cid);
};

/** The server keeps a file that no message names for a while only: one that waited longer is brought again, if it is here. */
export const requeueExpiredFile = async (context: SyncContext, file: Uuid): Promise<boolean> => {
  const rows = await import("#sync/store/upload-rows.ts").catch(() => undefined);
  return (await rows?.requeueUpload(context, file)) ?? false;
};
