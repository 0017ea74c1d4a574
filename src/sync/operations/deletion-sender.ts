import { createTombstone } from "#contract/messages/body.ts";
import { requestByHttp } from "#sync/connection/http-transport.ts";
import { applyServerChanges } from "#sync/inbound/apply/apply-server-changes.ts";
import type { OperationSender } from "#sync/platform/operation-runner.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import type { LocalMessageRow } from "#sync/store/database.ts";
import { raiseHead, toLocalMessageRow, toOwnMessage } from "#sync/store/row-mapping.ts";
import { commitUnsent, type SyncContext } from "#sync/store/sync-context.ts";
import { type Operation, unsentDeletions } from "#sync/unsent/operations.ts";
import { fetchMessage } from "./fetch-message.ts";

type Deletion = Operation<"deletion">;

/** Sends pending deletions. The message of one that the server refuses for good is shown again. */
export const createDeletionSender = (context: SyncContext): OperationSender<Deletion> => ({
  async send(deletion) {
    await sendDeletion(context, deletion);
    await commitUnsent(context, [unsentDeletions.end(deletion)]);
  },
  async handleRefusal(deletion) {
    await restoreMessage(context, deletion);
    await commitUnsent(context, [unsentDeletions.end(deletion)]);
  },
});

async function sendDeletion(context: SyncContext, { conversation, cid }: Deletion): Promise<void> {
  const { store, platform, me } = context;
  const answer = await requestByHttp(platform, { type: "deletePending", conversation, cid });
  const { revision, place, by } = answer;
  const row = place && (await store.conversations.get(conversation));
  if (!row) return;
  const message = toOwnMessage(row, me, { cid, ...place, body: createTombstone(by) });
  await applyServerChanges(context, [
    { type: "revised", target: conversation, since: revision - 1, revision, messages: [message] },
  ]);
}

/** Replaces the local tombstone by the message as the server still has it. Rejects with a SyncError. */
async function restoreMessage({ store, platform, me }: SyncContext, { conversation, cid }: Deletion) {
  const isItsTombstone = (row: LocalMessageRow) => row.cid === cid && row.body.type === "deleted";
  const tombstone = await store.queryMessages(conversation, 0).filter(isItsTombstone).first();
  if (!tombstone) return;
  const { seq } = tombstone;
  const before = await store.conversations.get(conversation);
  const fetched = await fetchMessage(platform, conversation, seq);
  if (!fetched) return;
  const { message, epoch } = fetched;
  await store.transaction("rw", [store.messages, store.conversations], async () => {
    const row = await store.conversations.get(conversation);
    const held = await store.messages.get([conversation, seq]);
    if (!row || !held || !isItsTombstone(held) || row.epoch !== epoch) return;
    if (row.revision !== before?.revision) throw new SyncError("unavailable"); // older than a pushed edit
    await store.messages.put(toLocalMessageRow(row, me, message));
    if (row.head !== seq) return;
    raiseHead(row, message);
    await store.conversations.put(row);
  });
}
