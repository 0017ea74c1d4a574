import { createTombstone } from "#contract/messages/body.ts";
import { requestByHttp } from "#sync/connection/http-transport.ts";
import { applyServerChanges } from "#sync/inbound/apply/apply-server-changes.ts";
import { isUnsupportedCommand, type OperationSender } from "#sync/platform/operation-runner.ts";
import { asSyncError, isRetryableFailure, SyncError } from "#sync/platform/sync-error.ts";
import type { LocalMessageRow } from "#sync/store/database.ts";
import { type PendingDeletion, removePendingDeletion } from "#sync/store/pending/pending-deletions.ts";
import { raiseHead, toLocalMessageRow, toOwnMessage } from "#sync/store/row-mapping.ts";
import type { SyncContext } from "#sync/store/sync-context.ts";

/** Sends pending deletions. The message of one that the server refuses for good is shown again. */
export const createDeletionSender = (context: SyncContext): OperationSender<PendingDeletion> => ({
  send: (deletion) => sendDeletion(context, deletion),
  async handleRefusal(deletion) {
    await restoreMessage(context, deletion);
    await removePendingDeletion(context.strict, deletion.cid);
  },
});

async function sendDeletion(context: SyncContext, { conversation, cid }: PendingDeletion): Promise<void> {
  const { store, strict, platform, me } = context;
  const answer = requestByHttp(platform, { type: "deletePending", conversation, cid });
  const { revision, place, by } = await answer.catch((error: unknown) => {
    throw isUnsupportedCommand(asSyncError(error)) ? new SyncError("unavailable") : error;
  });
  const row = place && (await store.conversations.get(conversation));
  if (row) {
    const message = toOwnMessage(row, me, { cid, ...place, body: createTombstone(by) });
    await applyServerChanges(context, [
      { type: "revised", target: conversation, since: revision - 1, revision, messages: [message] },
    ]);
  }
  await removePendingDeletion(strict, cid);
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
    if (row.revision !== before?.revision) throw new SyncError("unavailable"); // older than a pushed edit
    await strict.messages.put(toLocalMessageRow(row, me, message));
    if (row.head !== seq) return;
    raiseHead(row, message);
    await strict.conversations.put(row);
  });
}
