import { requestByHttp } from "#sync/connection/http-transport.ts";
import { applyServerChanges } from "#sync/inbound/apply-server-changes.ts";
import { Retry } from "#sync/platform/retry.ts";
import { asSyncError, isRetryableFailure, SyncError } from "#sync/platform/sync-error.ts";
import type { LocalMessageRow } from "#sync/store/database.ts";
import { listPendingDeletions, type PendingDeletion, removePendingDeletion } from "#sync/store/pending-deletions.ts";
import { raiseHead, toLocalMessageRow, toOwnMessage } from "#sync/store/row-mapping.ts";
import type { SyncContext } from "#sync/store/sync-context.ts";

/** Whether the server does not know the command yet: a newer client may talk to an older server during a deployment. */
const isUnsupported = (code: string): boolean => code === "not_found" || code === "method_not_allowed";

/** Sends pending deletions until the server confirmed each of them. */
export const createDeletionSender = (context: SyncContext): Retry =>
  new Retry(context.platform, () => sendPendingDeletions(context));

/** Sends all pending deletions; one that fails does not delay the others. */
async function sendPendingDeletions(context: SyncContext): Promise<"done" | "retry"> {
  const { strict } = context;
  let areAllDone = true;
  for (const deletion of await listPendingDeletions(strict)) {
    const isDone = await sendPendingDeletion(context, deletion).catch(() => false);
    if (isDone) await removePendingDeletion(strict, deletion.cid);
    areAllDone &&= isDone;
  }
  return areAllDone ? "done" : "retry";
}

/**
 * Sends one pending deletion. Resolves to true if it is finished: confirmed, or refused for good, after which the message
 * is shown again. Resolves to false if it must be retried.
 */
async function sendPendingDeletion(context: SyncContext, { conversation, cid }: PendingDeletion): Promise<boolean> {
  const { store, platform, me } = context;
  try {
    const { revision, place } = await requestByHttp(platform, { type: "withdraw", conversation, cid });
    const row = place && (await store.conversations.get(conversation));
    if (!row) return true;
    const message = toOwnMessage(row, me, { cid, ...place, body: { type: "deleted" } });
    await applyServerChanges(context, [
      { type: "revised", target: conversation, since: revision - 1, revision, messages: [message] },
    ]);
    return true;
  } catch (error) {
    const failure = asSyncError(error);
    if (isRetryableFailure(failure) || isUnsupported(failure.code)) return false;
  }
  await restoreMessage(context, { conversation, cid });
  return true;
}

/** Replaces the local tombstone by the message as the server still has it. Rejects with a SyncError. */
async function restoreMessage(
  { store, strict, platform, me }: SyncContext,
  { conversation, cid }: PendingDeletion,
): Promise<void> {
  const isItsTombstone = (row: LocalMessageRow) => row.cid === cid && row.body.type === "deleted";
  const tombstone = await store.queryMessages(conversation, 0).filter(isItsTombstone).first();
  if (!tombstone) return;
  const { seq } = tombstone;
  const before = await store.conversations.get(conversation);
  const request = { type: "page", conversation, direction: "after", seq: seq - 1, limit: 1 } as const;
  const page = await requestByHttp(platform, request).catch((error: unknown) => {
    if (isRetryableFailure(asSyncError(error))) throw error;
    return undefined; // this person left the conversation, which will be removed from this device
  });
  const message = page?.messages.find((one) => one.seq === seq);
  if (!page || !message) return;
  await strict.transaction("rw", [strict.messages, strict.conversations, strict.meta], async () => {
    await removePendingDeletion(strict, cid);
    const row = await strict.conversations.get(conversation);
    const held = await strict.messages.get([conversation, seq]);
    if (!row || !held || !isItsTombstone(held) || row.epoch !== page.epoch) return;
    if (row.revision !== before?.revision) throw new SyncError("unavailable"); // the page may be older than a pushed edit
    await strict.messages.put(toLocalMessageRow(row, me, message));
    if (row.head !== seq) return;
    raiseHead(row, message);
    await strict.conversations.put(row);
  });
}
