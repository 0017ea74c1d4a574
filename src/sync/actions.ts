import type { ConversationId, Uuid } from "#contract/ids.ts";
import type { Relation } from "#contract/people.ts";
import type { ChoiceKeeper } from "./drafts/draft-keeper.ts";
import { keptAt, readLeftOver, throwAway } from "./drafts/draft-rows.ts";
import { drop, find, keep } from "./drafts/voice-drafts.ts";
import { running, type Sync } from "./engine.ts";
import { type FoundMessage, search } from "./inbound/search.ts";
import { deleteUnsent, hide, mute, relate, retract } from "./outbox/conversation-commands.ts";
import { discard, getContext, retry, setPaused } from "./outbox/enqueue.ts";
import { SyncError } from "./platform/sync-error.ts";
import type { ChoicePlace, ConversationRow, KeptChoice, PersonRow } from "./store/database.ts";
import type { ChatItem, KeptRecording, OutgoingFile } from "./store/views.ts";

export type { ChoiceKeeper } from "./drafts/draft-keeper.ts";
export type { FoundMessage } from "./inbound/search.ts";
export { SyncError } from "./platform/sync-error.ts";
export type { ChoicePlace, KeptChoice } from "./store/database.ts";
export type { Choice, KeptRecording, OutgoingFile } from "./store/views.ts";

const getSync = (): Sync => {
  const sync = running.get();
  if (!sync) throw new SyncError("unavailable");
  return sync;
};

// What only some people need at some time is loaded when they do.
export const loadSpreading = () => loaded(import("./outbox/multicast.ts"));
const attaching = () => loaded(import("./files/send-files.ts"));

/** Without a network, what was never loaded cannot be had. */
const loaded = <T>(loading: Promise<T>): Promise<T> =>
  loading.catch(() => {
    throw new SyncError("offline");
  });

/** Resolves once the message is durably in the outbox; rejects only when it is nowhere, so that the caller keeps the text. */
export const sendText = async (conversation: ConversationId, text: string): Promise<void> =>
  getSync().drafts.send(conversation, text);

export const retryMessage = async (cid: Uuid): Promise<void> => retry(getSync().tab, cid);
export const discardMessage = async (cid: Uuid): Promise<void> => void (await discard(getSync().tab, cid));

/** The person has seen everything up to `seq`. Cheap to call often. */
export const markViewed = (conversation: ConversationId, seq: number): void => {
  running.get()?.viewed.mark(conversation, seq);
};

/** Deletes what was unsent when its author was asked, also where it arrived meanwhile. */
export const deleteUnsentMessage = async (conversation: ConversationId, cid: Uuid): Promise<void> =>
  deleteUnsent(getSync().tab, conversation, cid);
/** Deletes one's own message for everybody, also offline; rejects with a SyncError where this device cannot keep that. */
export const retractMessage = async (conversation: ConversationId, seq: number): Promise<void> =>
  retract(getSync().tab, conversation, seq);
/** Empties a conversation for me; it stays in the list. This and the next two need the network and reject with a SyncError. */
export const clearConversation = async (conversation: ConversationId): Promise<void> =>
  hide(getSync().tab, conversation, true);
/** Removes a conversation from my view. */
export const hideConversation = async (conversation: ConversationId): Promise<void> =>
  hide(getSync().tab, conversation, false);
export const muteConversation = async (conversation: ConversationId, muted: boolean): Promise<void> =>
  mute(getSync().tab, conversation, muted);

/**
 * Resolves once all are durably in the outbox; rejects when none is, with "no_room" when the phone is full. What was
 * kept of the choice goes with it, so that nothing is offered again that was sent.
 */
export const sendFiles = async (
  conversation: ConversationId,
  files: OutgoingFile[],
  kept?: KeptChoice,
): Promise<void> => broadcastFiles([conversation], files, kept);
export const pauseUpload = async (cid: Uuid): Promise<void> => setPaused(getSync().tab, cid, true);
export const resumeUpload = async (cid: Uuid): Promise<void> => setPaused(getSync().tab, cid, false);

/** To as many conversations as one likes; durably queued, also offline. Rejects what is not on the server yet. */
export const forwardMessage = async (from: ConversationId, item: ChatItem, to: ConversationId[]): Promise<void> =>
  (await loadSpreading()).forward(getSync().tab, from, item, to);
export const broadcastText = async (to: ConversationId[], text: string): Promise<void> =>
  (await loadSpreading()).broadcast(getSync().tab, to, text);
export const broadcastFiles = async (to: ConversationId[], files: OutgoingFile[], kept?: KeptChoice): Promise<void> =>
  (await attaching()).sendFiles(getSync().tab, to, files, kept);

/** The person types here. Cheap to call at every key. */
export const sayTyping = (conversation: ConversationId): void => running.get()?.tab.typing.say(conversation);

/** Adds a piece to the voice message being recorded; `info` speaks of all of it so far. */
export const keepRecording = async (
  conversation: ConversationId,
  startedAt: number,
  chunk: Blob,
  info: Pick<KeptRecording, "mime" | "ms" | "levels">,
): Promise<void> => keep(getSync().tab, { conversation, startedAt, ...info }, chunk);
/** What a page that died had recorded. */
export const findRecording = async (conversation: ConversationId): Promise<KeptRecording | undefined> =>
  find(getSync().tab, conversation);
export const dropRecording = async (conversation: ConversationId, startedAt: number): Promise<void> =>
  drop(getSync().tab, conversation, startedAt);

/** Whether a page that died had something chosen there. */
export const hasChoice = async (place: ChoicePlace): Promise<boolean> => {
  const tab = running.get()?.tab;
  const store = tab?.context.get()?.store;
  return tab !== undefined && store !== undefined && (await keptAt(tab, store, place)).length > 0;
};
/** Keeps what this page chooses there; undefined when too many pages do, or when that cannot be had. */
export const openChoice = async (place: ChoicePlace): Promise<ChoiceKeeper | undefined> => {
  const { ChoiceKeeper } = await loaded(import("./drafts/draft-keeper.ts"));
  return ChoiceKeeper.open(getSync().tab, place);
};
/** Resolves once no page keeps anything more of what was chosen there, or after a moment. */
export const choicesLetGo = async (place: ChoicePlace): Promise<void> => {
  const { ChoiceKeeper } = await loaded(import("./drafts/draft-keeper.ts"));
  await ChoiceKeeper.letGo(getSync().tab, place);
};

/** Throws away what a page that was left kept of a choice. */
export const dropKept = async (kept: KeptChoice): Promise<void> => {
  await throwAway(getSync().tab, kept.place, [kept.key]);
};
/** Throws away what is kept of all choices there. */
export const throwAwayChoices = async (conversation: ConversationId): Promise<void> => {
  await throwAway(getSync().tab, conversation);
};
/** The bytes of a chosen file. */
export const readChosen = async (file: Uuid): Promise<Blob | undefined> =>
  (await getContext(getSync().tab).store.blobs.get(file))?.blob;
/** Whether something was chosen or recorded there and not sent. */
export const hasLeftOver = async (conversation: ConversationId): Promise<boolean> => {
  const { files, recorded } = await readLeftOver(getContext(getSync().tab).store, conversation);
  return files.length > 0 || recorded !== undefined;
};

/** Looks here first, then through the whole history on the server; `onResults` gets everything found so far, newest first. */
export const searchChat = async (
  conversation: ConversationId,
  query: string,
  onResults: (found: FoundMessage[]) => void,
  signal?: AbortSignal,
): Promise<{ complete: boolean }> => search(getSync().tab, conversation, query, onResults, signal);

/** Changes how somebody stands to me; `ask` does so on the server, and `isDone` knows it by what is told of it. */
export const changeRelation = (
  person: Uuid,
  ask: () => Promise<Relation>,
  isDone: (row: PersonRow) => boolean,
): Promise<void> => relate(running.get()?.tab, person, ask, isDone);

const heardWithinMs = 10_000;
const lookAgainMs = 50;

const heard = async (conversation: ConversationId, isIt: (row: ConversationRow) => boolean): Promise<void> => {
  const { tab } = getSync();
  const until = tab.platform.now() + heardWithinMs;
  tab.look();
  while (tab.platform.now() < until) {
    const row = await tab.context.get()?.store.conversations.get(conversation);
    if (row !== undefined && isIt(row)) return;
    await new Promise<void>((resolve) => tab.platform.after(lookAgainMs, resolve));
  }
};

/** Resolves once the server has told this device of a conversation, or after a while all the same. */
export const heardOf = (conversation: ConversationId): Promise<void> =>
  heard(conversation, ({ epoch, gone }) => epoch !== "" && !gone);
/** Resolves once the server has told this device that a group is not one's own any more, or after a while all the same. */
export const heardGone = (conversation: ConversationId): Promise<void> => heard(conversation, ({ gone }) => gone);

/** Keeps what is typed and not sent; an empty text forgets it. Cheap to call at every key. */
export const saveDraft = (conversation: ConversationId, text: string): void => {
  running.get()?.drafts.save(conversation, text);
};
export const readDraft = async (conversation: ConversationId): Promise<string> =>
  (await running.get()?.drafts.read(conversation)) ?? "";
