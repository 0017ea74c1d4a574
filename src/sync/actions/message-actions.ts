/**
 * Actions on messages in menus, dialogs and panels, and the sending of files. Separate from `messages.ts`, because the
 * first pages do without them.
 */
import type { ConversationId, Uuid } from "#contract/ids.ts";
import { pushUse } from "#lib/browser/push/push-use.ts";
import { getEngine } from "#sync/engine/engine.ts";
import { retryFailedMessage, setUploadPaused } from "#sync/sending/files/retry-message.ts";
import { requireContext } from "#sync/store/sync-port.ts";
import type { ChatItem, OutgoingFile } from "#sync/store/view-models.ts";
import type { SavedDraft } from "#sync/unsent/attachment-rows.ts";
import { loadMulticast, loadServerCode, rejectAsOffline } from "./load-code.ts";

const loadEditCode = () => rejectAsOffline(import("#sync/operations/edit-message.ts"));
const loadReactions = () => rejectAsOffline(import("#sync/operations/set-reaction.ts"));
const loadMessageFlags = () => rejectAsOffline(import("#sync/operations/set-message-flags.ts"));
const loadSendFiles = () => rejectAsOffline(import("#sync/sending/files/send-files.ts"));

export const retryMessage = async (cid: Uuid): Promise<void> => retryFailedMessage(getEngine().client, cid);

/** Deletes a message that was unsent when the user chose to delete it, even if it has been sent since. */
export const deleteUnsentMessage = async (conversation: ConversationId, cid: Uuid): Promise<void> =>
  (await loadServerCode()).deleteMessageByClientId(getEngine().client, conversation, cid);

/** Deletes an own message for everyone, also offline. Rejects with a SyncError if the deletion cannot be stored. */
export const deleteMessageForEveryone = async (conversation: ConversationId, seq: number): Promise<void> =>
  (await loadServerCode()).deleteMessageBySeq(getEngine().client, conversation, seq);

/** Sets this person's reaction to a message, null for none, also offline. Rejects if this device cannot store it. */
export const setReaction = async (
  conversation: ConversationId,
  item: Pick<ChatItem, "seq" | "cid">,
  emoji: string | null,
): Promise<void> => (await loadReactions()).setPendingReaction(getEngine().client, conversation, item, emoji);

/** Deletes a message for this person alone, also offline. Rejects with a SyncError if that cannot be stored. */
export const deleteForSelf = async (conversation: ConversationId, seq: number): Promise<void> =>
  (await loadMessageFlags()).deleteMessageForSelf(getEngine().client, conversation, seq);

/** Stars a message, or removes the star, also offline. Rejects if this device cannot store it. */
export const setStarred = async (conversation: ConversationId, seq: number, starred: boolean): Promise<void> =>
  (await loadMessageFlags()).setMessageStarred(getEngine().client, conversation, seq, starred);

/**
 * Edits an own message; it shows the new text at once, also offline. Resolves once the edit is durable; rejects with a
 * SyncError, so that the caller keeps the text.
 */
export const saveEdit = async (conversation: ConversationId, item: ChatItem, text: string): Promise<void> =>
  (await loadEditCode()).editOwnMessage(getEngine().client, conversation, item, text);

/** Discards an edit that the server refused. */
export const discardRefusedEdit = async (conversation: ConversationId, item: ChatItem): Promise<void> =>
  (await loadEditCode()).discardEdit(getEngine().client, conversation, item);

/** Pins a message for all members of a conversation, or unpins it. Needs the network; rejects with a SyncError. */
export const pinMessage = async (conversation: ConversationId, seq: number, pinned: boolean): Promise<void> =>
  (await loadServerCode()).setMessagePinned(getEngine().client, conversation, seq, pinned);

/** Positions of pinned messages that this person cleared, and that the chat therefore does not show. */
export const listClearedPins = async (conversation: ConversationId): Promise<number[]> => {
  const { conversations } = requireContext(getEngine().client).store;
  const { pinnedMessages = [], hidden = 0 } = (await conversations.get(conversation)) ?? {};
  return pinnedMessages.filter((seq) => seq <= hidden); // they stay pinned for the other members
};

/**
 * Sends files to a conversation. Resolves once all are durable in the outbox; rejects with a SyncError if none is, with
 * "no_room" if the phone's storage is full. The draft they come from is deleted in the same step. The first one answers
 * the message that the draft answers.
 */
export const sendFiles = async (
  conversation: ConversationId,
  files: OutgoingFile[],
  draft?: SavedDraft,
): Promise<void> => {
  const { client, drafts } = getEngine();
  const target = drafts.findReply(conversation);
  await (await loadSendFiles()).enqueueFiles(client, [conversation], files, draft, target);
  drafts.setReply(conversation, undefined);
  pushUse.set("may-ask");
};

export const pauseUpload = async (cid: Uuid): Promise<void> => setUploadPaused(getEngine().client, cid, true);
export const resumeUpload = async (cid: Uuid): Promise<void> => setUploadPaused(getEngine().client, cid, false);

/**
 * Forwards a message to any number of conversations. Resolves once the copies are durable, also offline. Rejects with a
 * SyncError if the message is not on the server yet.
 */
export const forwardMessage = async (from: ConversationId, item: ChatItem, to: ConversationId[]): Promise<void> =>
  (await loadMulticast()).enqueueForward(getEngine().client, from, item, to);
export const broadcastText = async (to: ConversationId[], text: string): Promise<void> =>
  (await loadMulticast()).enqueueBroadcast(getEngine().client, to, text);
export const broadcastFiles = async (to: ConversationId[], files: OutgoingFile[], draft?: SavedDraft): Promise<void> =>
  (await loadSendFiles()).enqueueFiles(getEngine().client, to, files, draft);

/** Code that finds the mentions in a text. */
export const loadNamedMentions = () => import("#sync/sending/mentions/named-mentions.ts");

/** Bytes of a file in a draft. */
export const readDraftFile = (file: Uuid): Promise<Blob | undefined> => getEngine().client.unsent.bytes.get(file);
