import type { Uuid } from "#contract/ids.ts";
import type { SyncContext } from "#sync/store/sync-context.ts";
import { markPostDeleted, readFeed } from "./feed-store.ts";

/** Forgets the kept pictures of statuses that this device does not show any more. */
export const pruneFeedPictures = ({ platform, store }: SyncContext): Promise<void> =>
  platform
    .prunePostPictures(async () => {
      const rows = await readFeed(store);
      return new Set(rows.flatMap(({ id, isHidden }) => (isHidden ? [] : id)));
    })
    // Their cache cannot be had, or the store: it is tried again the next time.
    .catch(() => undefined);

/** One's own status is deleted: neither it nor its picture is kept to be shown here. */
export const removePost = async (context: SyncContext, id: Uuid): Promise<void> => {
  await markPostDeleted(context.store, id, context.platform.now());
  void pruneFeedPictures(context);
};
