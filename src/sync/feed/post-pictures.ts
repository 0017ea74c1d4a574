import type { Uuid } from "#contract/ids.ts";
import type { SyncContext } from "#sync/store/sync-context.ts";
import { markPostDeleted, readFeed } from "./feed-store.ts";

/** Deletes cached pictures of statuses that this device no longer shows. */
export const pruneFeedPictures = ({ platform, store }: SyncContext): Promise<void> =>
  platform
    .prunePostPictures(async () => {
      const rows = await readFeed(store);
      return new Set(rows.flatMap(({ id, isHidden }) => (isHidden ? [] : id)));
    })
    // The cache or the store cannot be read; the next run tries again.
    .catch(() => undefined);

/** Deletes an own status, which the server deleted, and its picture on this device. */
export const deletePostLocally = async (context: SyncContext, id: Uuid): Promise<void> => {
  await markPostDeleted(context.store, id, context.platform.now());
  void pruneFeedPictures(context);
};
