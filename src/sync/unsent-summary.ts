import { listJournaledTextDrafts } from "./store/journal.ts";
import { listPendingDeletions } from "./store/pending-deletions.ts";
import type { SyncContext } from "./store/sync-context.ts";

/**
 * What exists on this device only: `posts` are statuses of Tala, `drafts` the places where something was typed, chosen or
 * recorded and not sent; `deletions` are those that the server has not heard of.
 */
export type UnsentSummary = { messages: number; posts: number; drafts: number; deletions: number };

export const readUnsentSummary = async (context: SyncContext): Promise<UnsentSummary> => {
  const { store } = context;
  const begun = await store.queryDrafts().primaryKeys();
  const places = new Set<string>([
    ...begun.map((key) => key.slice(key.indexOf(":") + 1)),
    ...(await store.recordings.toCollection().primaryKeys()),
    // What the store has no room for, or not yet.
    ...listJournaledTextDrafts(context).flatMap(([conversation, text]) => (text.trim() === "" ? [] : conversation)),
  ]);
  const posts = await store.postbox.filter(({ state }) => state !== "cancelled").count();
  const deletions = (await listPendingDeletions(store)).length;
  return { messages: await store.outbox.count(), posts, drafts: places.size, deletions };
};
