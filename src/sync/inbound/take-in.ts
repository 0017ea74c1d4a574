import { type Context, inBackground, withRoom } from "#sync/store/context.ts";
import { dropFiles, isQuotaError } from "#sync/store/storage-quota.ts";
import { type Applied, applyChanges, type Change } from "./apply-changes.ts";

/** Takes in what the server said. What fails here can be had from the server again. */
export const takeIn = async (context: Context, changes: readonly Change[]): Promise<Applied> => {
  try {
    const applied = await withRoom(context, () =>
      applyChanges(context.store, context.me, changes, context.platform.now()),
    );
    if (applied.dropped.length > 0) inBackground(context, dropFiles(context.store, applied.dropped));
    if (applied.unseen.size > 0) inBackground(context, context.platform.dropPictures(applied.unseen));
    return applied;
  } catch (error) {
    if (!isQuotaError(error)) context.failed(error);
    throw error;
  }
};
