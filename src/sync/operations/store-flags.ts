import type { ConversationId } from "#contract/ids.ts";
import type { CommandResults } from "#contract/wire/commands.ts";
import type { SyncContext } from "#sync/store/sync-context.ts";
import { isChangeStored, readSyncCursor } from "#sync/store/sync-cursor.ts";
import { updateListPositions } from "#sync/store/unsent-messages.ts";

/** Stores the place of a conversation in the list by its unsent flags, and an answer unless newer data is stored. */
export const storeFlags = (
  { store, unsent }: SyncContext,
  conversation: ConversationId,
  answer?: CommandResults["setConversationFlags"],
): Promise<void> =>
  store.transaction("rw", [store.conversations, store.meta], async () => {
    const row = await store.conversations.get(conversation);
    if (!row) return;
    const { change, ...flags } = answer ?? {};
    const cursor = await readSyncCursor(store);
    if (change && cursor.epoch === change.epoch && !isChangeStored(cursor, change.counter)) Object.assign(row, flags);
    updateListPositions(unsent, [row]);
    await store.conversations.put(row);
  });
