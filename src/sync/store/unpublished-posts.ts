import type { Uuid } from "#contract/ids.ts";
import type { PostQueueRow } from "#sync/unsent/post-queue-row.ts";
import { listQueuedPosts } from "#sync/unsent/queued-posts.ts";
import type { LocalStore } from "./database.ts";
import type { SyncContext } from "./sync-context.ts";

/**
 * Statuses that this device has in its feed, among the given ones. A published one is in the feed before it leaves the
 * queue, so who lists the queue first finds each status in at least one of both.
 */
export const listPublished = async ({ posts }: LocalStore, ids: readonly Uuid[]): Promise<Set<Uuid>> => {
  const rows = ids.length > 0 ? await posts.where("id").anyOf(ids).toArray() : [];
  return new Set(rows.map(({ id }) => id));
};

/** Statuses of the queue, oldest first, without those cancelled or in the feed of this device. */
export const listUnpublishedPosts = async ({
  store,
  unsent,
}: Pick<SyncContext, "store" | "unsent">): Promise<PostQueueRow[]> => {
  const rows = listQueuedPosts(unsent).filter(({ state }) => state !== "cancelled");
  const ids = rows.map(({ id }) => id);
  const published = await listPublished(store, ids);
  return rows.filter(({ id }) => !published.has(id));
};
