import type { Uuid } from "#contract/ids.ts";
import type { PostQueueRow } from "./post-queue-row.ts";
import { toTimedChange, type UnsentChange, type UnsentState, type Untimed } from "./unsent-state.ts";

/** Statuses that the server has not acknowledged, as the image in memory (`unsent-store.ts`) has them. */

type Image = { list(): UnsentState };

/** All statuses of the queue in the order of writing. */
export const listQueuedPosts = (unsent: Image): PostQueueRow[] =>
  [...unsent.list().posts.values()].sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));

/** Statuses to be published, or to be deleted on the server, in sending order. */
export const listDuePosts = (unsent: Image): PostQueueRow[] =>
  listQueuedPosts(unsent).filter(({ state }) => state !== "failed");

/** Creation time after all queued statuses. Keeps their order even if the device's clock was corrected meanwhile. */
export const nextPostTime = (unsent: Image, now: number): number =>
  listQueuedPosts(unsent).reduce((time, { createdAt }) => Math.max(time, createdAt + 1), now);

/** Change of a queued status at a device time, if it is still in the queue. */
export const changePost = (
  id: Uuid,
  at: number,
  change: (row: PostQueueRow) => Untimed<PostQueueRow> | undefined,
): UnsentChange => toTimedChange("posts", id, at, (row) => row && change(row));
