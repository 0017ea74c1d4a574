import type { ConversationId } from "#contract/ids.ts";
import { pushUse } from "#lib/browser/push/push-use.ts";
import { currentEngine, getEngine } from "#sync/engine/engine.ts";
import { readChat } from "#sync/queries/chat-messages.ts";
import { requireContext } from "#sync/store/sync-port.ts";
import type { ChatItem } from "#sync/store/view-models.ts";

/**
 * Sends a text. Resolves once the message is durable in the outbox; rejects with a SyncError only if it is stored
 * nowhere, so that the caller keeps the text.
 */
export const sendText = async (conversation: ConversationId, text: string): Promise<void> => {
  await getEngine().drafts.send(conversation, text);
  pushUse.set("may-ask");
};

const newestMessages = 50;

/** Newest messages of a conversation as the store has them now, unsent ones first. */
export const readNewestMessages = async (conversation: ConversationId): Promise<ChatItem[]> => {
  return (await readChat(requireContext(getEngine().client), conversation, newestMessages)).items;
};

/** Sends and shows what the service worker, or the first view of this page, stored just now. */
export const takeOverUnsent = async (): Promise<void> => {
  const client = currentEngine.get()?.client;
  await client?.unsent.refresh();
  client?.notifyChanged("outbox");
};
