import { requestByHttp } from "#sync/connection/http-transport.ts";
import { applyServerChanges } from "#sync/inbound/apply-server-changes.ts";
import { Retry } from "#sync/platform/retry.ts";
import { asSyncError, isRetryableFailure, SyncError } from "#sync/platform/sync-error.ts";
import type { LocalMessageRow } from "#sync/store/database.ts";
import { listPendingDeletions, type PendingDeletion, removePendingDeletion } from "#sync/store/pending-deletions.ts";
import { raiseHead, toLocalMessageRow, toOwnMessage } from "#sync/store/row-mapping.ts";
import type { SyncContext } from "#sync/store/sync-context.ts";

/** A server that has not learned of withdrawals yet may by tomorrow. */
const isUnsupported = (code: string): boolean => code === "not_found" || code === "method_not_allowed";

/** Tells the server what its author deleted when it could not be told, again and again until the server has heard it. */
export const createDeletionSender = (context: SyncContext): Retry =>
  new Retry(context.platform, () => sendPendingDeletions(context));

/** One that cannot be told now keeps none of the others waiting. */
async function sendPendingDeletions(context: SyncContext): Promise<"done" | "retry"> {
  const { strict } = context;
  let isDone = true;
  for (const withdrawn of await listPendingDeletions(strict)) {
    const isSent = await sendPendingDeletion(context, withdrawn).catch(() => false);
    if (isSent) await removePendingDeletion(strict, withdrawn.cid);
    isDone &&= isSent;
  }
  return isDone ? "done" : "retry";
}

/** Whether there is nothing left to tell: what the server refuses for good is not this person's to delete any more. */
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

/** What stands there still is shown again as the server has it. */
async function restoreMessage(
  { store, strict, platform, me }: SyncContext,
  { conversation, cid }: PendingDeletion,
): Promise<void> {
  const isIt = ({ cid: one, body }: LocalMessageRow) => one === cid && body.type === "deleted";
  const emptied = await store.queryMessages(conversation, 0).filter(isIt).first();
  if (!emptied) return;
  const { seq } = emptied;
  const before = await store.conversations.get(conversation);
  const asked = { type: "page", conversation, direction: "after", seq: seq - 1, limit: 1 } as const;
  const page = await requestByHttp(platform, asked).catch((error: unknown) => {
    if (isRetryableFailure(asSyncError(error))) throw error;
    return undefined; // the conversation is not this person's any more, and goes from here
  });
  const message = page?.messages.find((one) => one.seq === seq);
  if (!page || !message) return;
  await strict.transaction("rw", [strict.messages, strict.conversations, strict.meta], async () => {
    await removePendingDeletion(strict, cid);
    const row = await strict.conversations.get(conversation);
    const held = await strict.messages.get([conversation, seq]);
    if (!row || !held || !isIt(held) || row.epoch !== page.epoch) return;
    if (row.revision !== before?.revision) throw new SyncError("unavailable"); // the page may be older than what was told
    await strict.messages.put(toLocalMessageRow(row, me, message));
    if (row.head !== seq) return;
    raiseHead(row, message);
    await strict.conversations.put(row);
  });
}
