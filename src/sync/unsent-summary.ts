import type { Context } from "./store/context.ts";
import { listDrafts } from "./store/journal.ts";
import { listWithdrawn } from "./store/pending-deletion-rows.ts";

/**
 * What exists on this device only: `posts` are statuses of Tala, `drafts` the places where something was typed, chosen or
 * recorded and not sent; `deletions` are those that the server has not heard of.
 */
export type Unsent = { messages: number; posts: number; drafts: number; deletions: number };

export const readUnsent = async (context: Context): Promise<Unsent> => {
  const { store } = context;
  const begun = await store.begun().primaryKeys();
  const places = new Set<string>([
    ...begun.map((key) => key.slice(key.indexOf(":") + 1)),
    ...(await store.recordings.toCollection().primaryKeys()),
    // What the store has no room for, or not yet.
    ...listDrafts(context).flatMap(([conversation, text]) => (text.trim() === "" ? [] : conversation)),
  ]);
  const posts = await store.postbox.filter(({ state }) => state !== "cancelled").count();
  const deletions = (await listWithdrawn(store)).length;
  return { messages: await store.outbox.count(), posts, drafts: places.size, deletions };
};
