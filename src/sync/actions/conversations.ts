import type { ConversationId } from "#contract/ids.ts";
import type { ConversationFlags, FlagChange } from "#contract/settings/conversation-flags.ts";
import type { MuteOptions } from "#sync/commands/conversation-commands.ts";
import { currentEngine, getEngine } from "#sync/engine/engine.ts";
import { loadServerCode } from "./load-code.ts";

/** Marks a conversation as read up to `seq`. Cheap to call often. */
export const markReadUpTo = (conversation: ConversationId, seq: number): void => {
  currentEngine.get()?.readTracker.markRead(conversation, seq);
};

/**
 * Clears the history of a conversation for this person; it stays in the list. Needs the network, as do the next two;
 * rejects with a SyncError.
 */
export const clearConversation = async (conversation: ConversationId): Promise<void> =>
  (await loadServerCode()).clearConversationHistory(getEngine().client, conversation, true);

/** Removes a conversation from this person's list. */
export const hideConversation = async (conversation: ConversationId): Promise<void> =>
  (await loadServerCode()).clearConversationHistory(getEngine().client, conversation, false);

/**
 * Marks a conversation as unread, archives or pins it, or undoes that, also offline. Resolves to the flags before.
 * Rejects with the SyncError "too_many_pinned".
 */
export const setConversationFlags = async (
  conversation: ConversationId,
  flags: FlagChange,
): Promise<ConversationFlags> =>
  (await loadServerCode()).changeConversationFlags(getEngine().client, conversation, flags);

export const muteConversation = async (
  conversation: ConversationId,
  muted: boolean,
  options?: MuteOptions,
): Promise<void> => (await loadServerCode()).setConversationMuted(getEngine().client, conversation, muted, options);

/** Reports that the person types. Cheap to call at every keystroke. */
export const reportTyping = (conversation: ConversationId): void =>
  currentEngine.get()?.client.typing.reportTyping(conversation);
