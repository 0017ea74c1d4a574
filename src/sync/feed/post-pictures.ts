import type { Uuid } from "#contract/ids.ts";
import type { Context } from "#sync/store/context.ts";
import { markGone, readFeed } from "./feed-store.ts";

/** Forgets the kept pictures of statuses that this device does not show any more. */
export const settlePictures = ({ platform, store }: Context): Promise<void> =>
  platform
    .keepPostPictures(async () => {
      const rows = await readFeed(store);
      return new Set(rows.flatMap(({ id, isHidden }) => (isHidden ? [] : id)));
    })
    // Their cache cannot be had, or the store: it is tried again the next time.
    .catch(() => undefined);

/** One's own status is deleted: neither it nor its picture is kept to be shown here. */
export const forgetPost = async (context: Context, id: Uuid): Promise<void> => {
  await markGone(context.store, id, context.platform.now());
  void settlePictures(context);
};
