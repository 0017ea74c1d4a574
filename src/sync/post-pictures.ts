import type { Context } from "./context";
import { readFeed } from "./posts";

/** Forgets the kept pictures of statuses that this device does not show any more. */
export const settlePictures = ({ platform, store }: Context): Promise<void> =>
  platform
    .keepPostPictures(async () => {
      const rows = await readFeed(store);
      return new Set(rows.flatMap(({ id, isHidden }) => (isHidden ? [] : id)));
    })
    // Their cache cannot be had, or the store: it is tried again the next time.
    .catch(() => undefined);
