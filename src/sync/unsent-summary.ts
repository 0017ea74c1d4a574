import { listEarlyDrafts } from "./drafts/early-drafts.ts";
import { toDraftTarget } from "./store/database.ts";
import { listJournaledTextDrafts, listSentTexts } from "./store/journal.ts";
import { listPendingDeletions } from "./store/pending-deletions.ts";
import { listPendingEdits } from "./store/pending-edits.ts";
import type { SyncContext } from "./store/sync-context.ts";

/**
 * Counts of data that only this device has: unsent messages, queued Tala statuses (`posts`), conversations and other
 * targets with a draft, and deletions and edits that the server has not confirmed.
 */
export type UnsentSummary = { messages: number; posts: number; drafts: number; deletions: number; edits: number };

export const readUnsentSummary = async (context: SyncContext): Promise<UnsentSummary> => {
  const { store } = context;
  const draftKeys = await store.queryDrafts().primaryKeys();
  const targets = new Set<string>([
    ...[...draftKeys, ...(await store.recordings.toCollection().primaryKeys())].map(toDraftTarget),
    // Texts that the store has no room for, or not yet, and those of a first view in another tab.
    ...[...listJournaledTextDrafts(context), ...listEarlyDrafts(context)].flatMap(([conversation, text]) =>
      text.trim() === "" ? [] : conversation,
    ),
  ]);
  const messages = new Set([
    ...(await store.outbox.toCollection().primaryKeys()),
    ...listSentTexts(context).flatMap(({ cid, stored }) => (stored ? [] : cid)),
  ]);
  const posts = await store.postbox.filter(({ state }) => state !== "cancelled").count();
  const deletions = (await listPendingDeletions(store)).length;
  const edits = (await listPendingEdits(store)).length;
  return { messages: messages.size, posts, drafts: targets.size, deletions, edits };
};
