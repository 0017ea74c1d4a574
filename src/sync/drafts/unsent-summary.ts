import { listJournaledTextDrafts, listSentTexts } from "#sync/store/journal.ts";
import { isDraftShared } from "#sync/store/pending/draft-edits.ts";
import { toDraftTarget } from "#sync/store/pending/draft-keys.ts";
import { listPendingDeletions } from "#sync/store/pending/pending-deletions.ts";
import { listPendingEdits } from "#sync/store/pending/pending-edits.ts";
import type { SyncContext } from "#sync/store/sync-context.ts";
import { listEarlyDrafts } from "./early-drafts.ts";
import { listAllKeptTexts } from "./kept-texts.ts";

/**
 * Counts of data that would be lost: unsent messages, queued Tala statuses (`posts`), conversations and other targets
 * with a kept text or a draft, deletions that the server has not confirmed, and edits that it has not confirmed or that
 * are being typed.
 */
export type UnsentSummary = { messages: number; posts: number; drafts: number; deletions: number; edits: number };

/** `ending`: what ends. The drafts that the server has are lost with the account only, and not with this session. */
export const readUnsentSummary = async (
  context: SyncContext,
  ending: "session" | "account" = "session",
): Promise<UnsentSummary> => {
  const { store } = context;
  const drafts = await store.queryDrafts().toArray();
  const texts = [
    ...drafts.flatMap(({ key, value }) => (typeof value === "string" ? [[toDraftTarget(key), value] as const] : [])),
    // Texts that the store has no room for, or not yet, and those of a first view in another tab.
    ...listJournaledTextDrafts(context),
    ...listEarlyDrafts(context),
  ];
  const isKeptByServer = async (target: string, text: string) =>
    ending === "session" && (await isDraftShared(store, target, text));
  const lost = await Promise.all(
    texts.map(async ([target, text]) => (text.trim() === "" || (await isKeptByServer(target, text)) ? [] : target)),
  );
  const choices = drafts.flatMap(({ key, value }) => (typeof value === "string" ? [] : toDraftTarget(key)));
  const recordings = await store.recordings.toCollection().primaryKeys();
  const kept = listAllKeptTexts(context).filter(({ text }) => text.trim() !== "");
  const targets = new Set<string>([
    ...lost.flat(),
    ...choices,
    ...recordings.map(toDraftTarget),
    ...kept.flatMap(({ conversation, target }) => (target === undefined ? conversation : [])),
  ]);
  const messages = new Set([
    ...(await store.outbox.toCollection().primaryKeys()),
    ...listSentTexts(context).flatMap(({ cid, stored }) => (stored ? [] : cid)),
  ]);
  const posts = await store.postbox.filter(({ state }) => state !== "cancelled").count();
  const deletions = (await listPendingDeletions(store)).length;
  const edits = new Set(
    [...(await listPendingEdits(store)), ...kept].flatMap(({ conversation, target }) =>
      target === undefined ? [] : `${conversation} ${target}`,
    ),
  );
  return { messages: messages.size, posts, drafts: targets.size, deletions, edits: edits.size };
};
