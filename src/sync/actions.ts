import type { ConversationId, Uuid } from "#contract/ids.ts";
import type { Relation } from "#contract/people.ts";
import type { DraftKeeper } from "./drafts/draft-keeper.ts";
import { discardDrafts, listDraftKeys, readUnsentContent } from "./drafts/draft-rows.ts";
import { appendRecordingChunk, deleteRecordingDraft, findRecordingDraft } from "./drafts/voice-drafts.ts";
import { activeEngine, type SyncEngine } from "./engine.ts";
import {
  clearConversationHistory,
  deleteMessageByClientId,
  deleteOwnMessage,
  runRelationCommand,
  setConversationMuted,
} from "./outbox/conversation-commands.ts";
import { discardUnsentMessage, getContext, retryFailedMessage, setUploadPaused } from "./outbox/enqueue.ts";
import { SyncError } from "./platform/sync-error.ts";
import { type SearchHit, searchMessages } from "./queries/message-search.ts";
import type { DraftSlot, DraftTarget, LocalConversationRow, PersonRow } from "./store/database.ts";
import type { ChatItem, OutgoingFile, RecordingDraft } from "./store/view-models.ts";

export type { DraftKeeper } from "./drafts/draft-keeper.ts";
export { SyncError } from "./platform/sync-error.ts";
export type { SearchHit } from "./queries/message-search.ts";
export type { DraftSlot, DraftTarget } from "./store/database.ts";
export type { Draft, OutgoingFile, RecordingDraft } from "./store/view-models.ts";

const getSync = (): SyncEngine => {
  const sync = activeEngine.get();
  if (!sync) throw new SyncError("unavailable");
  return sync;
};

// What only some people need at some time is loaded when they do.
export const loadMulticast = () => rejectAsOffline(import("./outbox/multicast.ts"));
const loadSendFiles = () => rejectAsOffline(import("./files/send-files.ts"));

/** Without a network, what was never loaded cannot be had. */
const rejectAsOffline = <T>(loading: Promise<T>): Promise<T> =>
  loading.catch(() => {
    throw new SyncError("offline");
  });

/** Resolves once the message is durably in the outbox; rejects only when it is nowhere, so that the caller keeps the text. */
export const sendText = async (conversation: ConversationId, text: string): Promise<void> =>
  getSync().drafts.send(conversation, text);

export const retryMessage = async (cid: Uuid): Promise<void> => retryFailedMessage(getSync().tab, cid);
export const discardMessage = async (cid: Uuid): Promise<void> => void (await discardUnsentMessage(getSync().tab, cid));

/** The person has seen everything up to `seq`. Cheap to call often. */
export const markReadUpTo = (conversation: ConversationId, seq: number): void => {
  activeEngine.get()?.readTracker.markRead(conversation, seq);
};

/** Deletes what was unsent when its author was asked, also where it arrived meanwhile. */
export const deleteUnsentMessage = async (conversation: ConversationId, cid: Uuid): Promise<void> =>
  deleteMessageByClientId(getSync().tab, conversation, cid);
/** Deletes one's own message for everybody, also offline; rejects with a SyncError where this device cannot keep that. */
export const deleteMessageForEveryone = async (conversation: ConversationId, seq: number): Promise<void> =>
  deleteOwnMessage(getSync().tab, conversation, seq);
/** Empties a conversation for me; it stays in the list. This and the next two need the network and reject with a SyncError. */
export const clearConversation = async (conversation: ConversationId): Promise<void> =>
  clearConversationHistory(getSync().tab, conversation, true);
/** Removes a conversation from my view. */
export const hideConversation = async (conversation: ConversationId): Promise<void> =>
  clearConversationHistory(getSync().tab, conversation, false);
export const muteConversation = async (conversation: ConversationId, muted: boolean): Promise<void> =>
  setConversationMuted(getSync().tab, conversation, muted);

/**
 * Resolves once all are durably in the outbox; rejects when none is, with "no_room" when the phone is full. What was
 * kept of the choice goes with it, so that nothing is offered again that was sent.
 */
export const sendFiles = async (conversation: ConversationId, files: OutgoingFile[], kept?: DraftSlot): Promise<void> =>
  broadcastFiles([conversation], files, kept);
export const pauseUpload = async (cid: Uuid): Promise<void> => setUploadPaused(getSync().tab, cid, true);
export const resumeUpload = async (cid: Uuid): Promise<void> => setUploadPaused(getSync().tab, cid, false);

/** To as many conversations as one likes; durably queued, also offline. Rejects what is not on the server yet. */
export const forwardMessage = async (from: ConversationId, item: ChatItem, to: ConversationId[]): Promise<void> =>
  (await loadMulticast()).enqueueForward(getSync().tab, from, item, to);
export const broadcastText = async (to: ConversationId[], text: string): Promise<void> =>
  (await loadMulticast()).enqueueBroadcast(getSync().tab, to, text);
export const broadcastFiles = async (to: ConversationId[], files: OutgoingFile[], kept?: DraftSlot): Promise<void> =>
  (await loadSendFiles()).enqueueFiles(getSync().tab, to, files, kept);

/** The person types here. Cheap to call at every key. */
export const reportTyping = (conversation: ConversationId): void =>
  activeEngine.get()?.tab.typing.reportTyping(conversation);

/** Adds a piece to the voice message being recorded; `info` speaks of all of it so far. */
export const saveRecordingChunk = async (
  conversation: ConversationId,
  startedAt: number,
  chunk: Blob,
  info: Pick<RecordingDraft, "mime" | "ms" | "levels">,
): Promise<void> => appendRecordingChunk(getSync().tab, { conversation, startedAt, ...info }, chunk);
/** What a page that died had recorded. */
export const findRecording = async (conversation: ConversationId): Promise<RecordingDraft | undefined> =>
  findRecordingDraft(getSync().tab, conversation);
export const deleteRecording = async (conversation: ConversationId, startedAt: number): Promise<void> =>
  deleteRecordingDraft(getSync().tab, conversation, startedAt);

/** Whether a page that died had something chosen there. */
export const hasAttachmentDraft = async (place: DraftTarget): Promise<boolean> => {
  const tab = activeEngine.get()?.tab;
  const store = tab?.context.get()?.store;
  return tab !== undefined && store !== undefined && (await listDraftKeys(tab, store, place)).length > 0;
};
/** Keeps what this page chooses there; undefined when too many pages do, or when that cannot be had. */
export const openAttachmentDraft = async (place: DraftTarget): Promise<DraftKeeper | undefined> => {
  const { DraftKeeper } = await rejectAsOffline(import("./drafts/draft-keeper.ts"));
  return DraftKeeper.open(getSync().tab, place);
};
/** Resolves once no page keeps anything more of what was chosen there, or after a moment. */
export const waitUntilAttachmentDraftsReleased = async (place: DraftTarget): Promise<void> => {
  const { DraftKeeper } = await rejectAsOffline(import("./drafts/draft-keeper.ts"));
  await DraftKeeper.waitUntilReleased(getSync().tab, place);
};

/** Throws away what a page that was left kept of a choice. */
export const discardDraftSlot = async (kept: DraftSlot): Promise<void> => {
  await discardDrafts(getSync().tab, kept.target, [kept.key]);
};
/** Throws away what is kept of all choices there. */
export const discardAttachmentDrafts = async (conversation: ConversationId): Promise<void> => {
  await discardDrafts(getSync().tab, conversation);
};
/** The bytes of a chosen file. */
export const readDraftFile = async (file: Uuid): Promise<Blob | undefined> =>
  (await getContext(getSync().tab).store.blobs.get(file))?.blob;
/** Whether something was chosen or recorded there and not sent. */
export const hasUnsentContent = async (conversation: ConversationId): Promise<boolean> => {
  const { files, recorded } = await readUnsentContent(getContext(getSync().tab).store, conversation);
  return files.length > 0 || recorded !== undefined;
};

/** Looks here first, then through the whole history on the server; `onResults` gets everything found so far, newest first. */
export const searchChat = async (
  conversation: ConversationId,
  query: string,
  onResults: (found: SearchHit[]) => void,
  signal?: AbortSignal,
): Promise<{ complete: boolean }> => searchMessages(getSync().tab, conversation, query, onResults, signal);

/** Changes how somebody stands to me; `ask` does so on the server, and `isDone` knows it by what is told of it. */
export const changeRelation = (
  person: Uuid,
  ask: () => Promise<Relation>,
  isDone: (row: PersonRow) => boolean,
): Promise<void> => runRelationCommand(activeEngine.get()?.tab, person, ask, isDone);

const syncTimeoutMs = 10_000;
const syncPollMs = 50;

const waitForConversation = async (
  conversation: ConversationId,
  isIt: (row: LocalConversationRow) => boolean,
): Promise<void> => {
  const { tab } = getSync();
  const until = tab.platform.now() + syncTimeoutMs;
  tab.refresh();
  while (tab.platform.now() < until) {
    const row = await tab.context.get()?.store.conversations.get(conversation);
    if (row !== undefined && isIt(row)) return;
    await new Promise<void>((resolve) => tab.platform.startTimer(syncPollMs, resolve));
  }
};

/** Resolves once the server has told this device of a conversation, or after a while all the same. */
export const waitUntilSynced = (conversation: ConversationId): Promise<void> =>
  waitForConversation(conversation, ({ epoch, gone }) => epoch !== "" && !gone);
/** Resolves once the server has told this device that a group is not one's own any more, or after a while all the same. */
export const waitUntilGone = (conversation: ConversationId): Promise<void> =>
  waitForConversation(conversation, ({ gone }) => gone);

/** Keeps what is typed and not sent; an empty text forgets it. Cheap to call at every key. */
export const saveDraft = (conversation: ConversationId, text: string): void => {
  activeEngine.get()?.drafts.save(conversation, text);
};
export const readLatestDraft = async (conversation: ConversationId): Promise<string> =>
  (await activeEngine.get()?.drafts.read(conversation)) ?? "";
