import type { CommandResults } from "#contract/wire/commands.ts";
import { requestByHttp } from "#sync/connection/http-transport.ts";
import { isUnsupportedCommand, type OperationSender } from "#sync/platform/operation-runner.ts";
import { asSyncError, SyncError } from "#sync/platform/sync-error.ts";
import { type PendingFlags, toPendingFlagsKey } from "#sync/store/pending/pending-flags.ts";
import type { SyncContext } from "#sync/store/sync-context.ts";
import { isChangeStored, readSyncCursor } from "#sync/store/sync-cursor.ts";
import { updateListPositions } from "#sync/store/unsent-messages.ts";

/** Sends pending flags. `onTooManyPinned` is called if the server has no room for another pinned conversation. */
export const createFlagSender = (context: SyncContext, onTooManyPinned: () => void): OperationSender<PendingFlags> => ({
  async send(pending) {
    const { at: _, ...command } = pending;
    const answer = requestByHttp(context.platform, { type: "setConversationFlags", ...command });
    await settleFlags(
      context,
      pending,
      await answer.catch((error: unknown) => {
        throw isUnsupportedCommand(asSyncError(error)) ? new SyncError("unavailable") : error;
      }),
    );
  },
  async handleRefusal(pending, { code }) {
    await settleFlags(context, pending);
    if (code === "too_many_pinned") onTooManyPinned();
  },
});

/** Ends the wait for sent flags unless the person chose again, and stores the answer unless newer data is stored. */
async function settleFlags(
  { store }: SyncContext,
  sent: PendingFlags,
  answer?: CommandResults["setConversationFlags"],
): Promise<void> {
  const key = toPendingFlagsKey(sent.conversation);
  await store.transaction("rw", [store.conversations, store.meta, store.recordings], async () => {
    const isLast = JSON.stringify((await store.meta.get(key))?.value) === JSON.stringify(sent);
    if (isLast) await store.meta.delete(key);
    const row = await store.conversations.get(sent.conversation);
    if (!row) return;
    if (isLast) delete row.wanted;
    const cursor = await readSyncCursor(store);
    const { change, ...flags } = answer ?? {};
    if (change && cursor.epoch === change.epoch && !isChangeStored(cursor, change.counter)) Object.assign(row, flags);
    await updateListPositions(store, [row]);
    await store.conversations.put(row);
  });
}
