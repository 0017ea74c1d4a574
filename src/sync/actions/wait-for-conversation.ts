import type { ConversationId } from "#contract/ids.ts";
import { getEngine } from "#sync/engine/engine.ts";
import type { LocalConversationRow, LocalStore } from "#sync/store/database.ts";
import { waitForStore } from "#sync/store/wait-for-store.ts";

const syncTimeoutMs = 10_000;

const waitForConversation = async (
  conversation: ConversationId,
  isDone: (row: LocalConversationRow) => boolean,
): Promise<void> => {
  const { client } = getEngine();
  client.refresh();
  const hasArrived = async ({ conversations }: LocalStore) => {
    const row = await conversations.get(conversation);
    return row !== undefined && isDone(row);
  };
  await waitForStore(client, hasArrived, syncTimeoutMs);
};

/** Resolves once this device received a conversation from the server, or after `syncTimeoutMs`. */
export const waitUntilSynced = (conversation: ConversationId): Promise<void> =>
  waitForConversation(conversation, ({ epoch, gone }) => epoch !== "" && !gone);

/** Resolves once this device learned that the person is no longer in a group, or after `syncTimeoutMs`. */
export const waitUntilLeft = (conversation: ConversationId): Promise<void> =>
  waitForConversation(conversation, ({ open }) => !open);
