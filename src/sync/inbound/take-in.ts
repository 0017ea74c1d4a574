import { deleteCachedFiles, isQuotaError } from "#sync/store/storage-quota.ts";
import { retryOnQuotaError, runInBackground, type SyncContext } from "#sync/store/sync-context.ts";
import { type ApplyResult, applyInTransaction, type ServerChange } from "./apply-server-changes.ts";

/**
 * Applies server changes to the local database and deletes the files and pictures they orphaned. Changes that fail here
 * can be fetched again.
 */
export const applyServerChanges = async (
  context: SyncContext,
  changes: readonly ServerChange[],
): Promise<ApplyResult> => {
  try {
    const applied = await retryOnQuotaError(context, () =>
      applyInTransaction(context.store, context.me, changes, context.platform.now()),
    );
    if (applied.orphanedFiles.length > 0)
      runInBackground(context, deleteCachedFiles(context.store, applied.orphanedFiles));
    if (applied.orphanedPictureOwners.size > 0)
      runInBackground(context, context.platform.deletePictures(applied.orphanedPictureOwners));
    return applied;
  } catch (error) {
    if (!isQuotaError(error)) context.reportStoreFailure(error);
    throw error;
  }
};
