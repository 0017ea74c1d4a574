import type { ConversationId } from "#contract/ids.ts";
import { pushUse } from "#lib/browser/push/push-use.ts";
import { currentEngine, getEngine } from "#sync/engine/engine.ts";
import { readChat } from "#sync/queries/chat-messages.ts";
import { recoverBackgroundOutbox } from "#sync/sending/background-outbox-recovery.ts";
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
export const readNewestMessages = async (conversation: ConversationId): Promise<ChatItem[]> =>
  (await readChat(requireContext(getEngine().client).store, conversation, newestMessages)).items;

/** Takes over what the service worker stored just now. */
export const recoverBackgroundMessages = async (): Promise<void> => {
  const engine = currentEngine.get();
  if (engine) await recoverBackgroundOutbox(engine.client);
};
