import type { ConversationId, Uuid } from "#contract/ids.ts";
import type { Relation } from "#contract/people.ts";
import type { ConversationFlags, FlagChange } from "#contract/settings/conversation-flags.ts";
import { pushUse } from "#lib/browser/push/push-use.ts";
import type { DraftKeeper } from "./drafts/draft-keeper.ts";
import { listDraftKeys, listRecordings, readUnsentContent } from "./drafts/draft-rows.ts";
import { joinDrafts } from "./drafts/early-drafts.ts";
import { deleteKeptText } from "./drafts/keep-text.ts";
import type { KeptText } from "./drafts/kept-texts.ts";
import { waitForDraftSaves } from "./drafts/pending-saves.ts";
import { currentEngine, getEngine } from "./engine.ts";
import { recoverBackgroundOutbox } from "./outbox/background-outbox-recovery.ts";
import type { MuteOptions } from "./outbox/conversation-commands.ts";
import { SyncError } from "./platform/sync-error.ts";
import { readChat } from "./queries/chat-messages.ts";
import { waitForStore } from "./queries/wait-for-store.ts";
import type { LocalConversationRow, LocalStore, PersonRow, ReplyTarget } from "./store/database.ts";
import type { DraftTarget } from "./store/pending/draft-keys.ts";
import { runInBackground } from "./store/sync-context.ts";
import { requireContext } from "./store/sync-port.ts";
import type { ChatItem, Draft } from "./store/view-models.ts";

export type { DraftKeeper } from "./drafts/draft-keeper.ts";
export { trackDraftSave } from "./drafts/pending-saves.ts";
export { SyncError } from "./platform/sync-error.ts";
export type { DraftTarget, SavedDraft } from "./store/pending/draft-keys.ts";
export type { Draft } from "./store/view-models.ts";

/** Rejects with the SyncError "offline" if code cannot be loaded. */
export const rejectAsOffline = <T>(loading: Promise<T>): Promise<T> =>
  loading.catch(() => {
    throw new SyncError("offline");
  });

// Code that the first pages do not need.
export const loadServerCode = () => rejectAsOffline(import("./server-code.ts"));
export const loadMulticast = () => rejectAsOffline(import("./outbox/multicast.ts"));

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

/** Whether recordings of a conversation are stored, running ones included. */
export const hasRecordings = async (conversation: ConversationId): Promise<boolean> => {
  await waitForDraftSaves(conversation);
  return (await listRecordings(requireContext(getEngine().client).store, conversation)).length > 0;
};

/** Whether an earlier screen or page left a draft with files or text for the target. */
export const hasAttachmentDraft = async (target: DraftTarget): Promise<boolean> => {
  await waitForDraftSaves(target);
  const client = currentEngine.get()?.client;
  const store = client?.context.get()?.store;
  return client !== undefined && store !== undefined && (await listDraftKeys(client, store, target)).length > 0;
};
/** Whether a conversation has unsent files or recordings, including those of a screen that the user is leaving. */
export const hasUnsentContent = async (conversation: ConversationId): Promise<boolean> => {
  await waitForDraftSaves(conversation);
  const { files, recordings } = await readUnsentContent(requireContext(getEngine().client).store, conversation);
  return files.length + recordings.length > 0;
};
/**
 * Opens a draft of the target for this page. `onRestored` receives the draft that an earlier screen or page left.
 * Resolves to undefined if the draft cannot be saved: too many pages have one, or its code cannot be loaded.
 * `onNotSaved` is called then, and once this device has no room for it.
 */
export const openAttachmentDraft = async (
  target: DraftTarget,
  onRestored: (saved: Draft) => void,
  onNotSaved?: () => void,
): Promise<DraftKeeper | undefined> => {
  try {
    await waitForDraftSaves(target);
    const { DraftKeeper } = await import("./drafts/draft-keeper.ts");
    const keeper = await DraftKeeper.open(getEngine().client, target, onRestored, onNotSaved);
    if (keeper) return keeper;
  } catch (error) {
    console.warn("the draft is not saved", error);
  }
  onNotSaved?.();
  return undefined;
};

/** Changes the relation to a person. `request` changes it on the server; `isDone` recognises the pushed change. */
export const changeRelation = async (
  person: Uuid,
  request: () => Promise<Relation>,
  isDone: (row: PersonRow) => boolean,
): Promise<void> => (await loadServerCode()).runRelationCommand(currentEngine.get()?.client, person, request, isDone);

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

/** Saves what is typed over the draft `before`, soon; an empty text deletes it. Cheap to call at every keystroke. */
export const saveDraft = (conversation: ConversationId, text: string, before?: string): void => {
  currentEngine.get()?.drafts.type(conversation, text, before);
};
/** Text draft that the store does not have yet. */
export const findUnsavedDraft = (conversation: ConversationId): string | undefined =>
  currentEngine.get()?.drafts.findUnsaved(conversation);
/** Sets the message that the draft of a conversation answers; undefined makes it an ordinary draft. */
export const setReplyDraft = (conversation: ConversationId, target: ReplyTarget | undefined): void =>
  currentEngine.get()?.drafts.setReply(conversation, target);
/** Calls the listener when nobody types in the message field of a conversation. Returns a function that cancels it. */
export const afterTyping = (conversation: ConversationId, listener: () => void): (() => void) | undefined =>
  currentEngine.get()?.drafts.afterTyping(conversation, listener);
export const getKeptTextScope = () => getEngine().client;
export const discardKeptText = (conversation: ConversationId, id: string): void =>
  deleteKeptText(getKeptTextScope(), conversation, id);
/** Moves a kept text into the message field, behind what stands there. */
export const restoreKeptText = async (conversation: ConversationId, { id, text }: KeptText): Promise<void> => {
  const { drafts } = getEngine();
  const before = await drafts.read(conversation);
  drafts.save(conversation, joinDrafts(before, text), before);
  drafts.flushToJournal(); // the page may close before the store is written
  discardKeptText(conversation, id);
};
/** Sends changed drafts to the other devices at once, because the chat is left. */
export const shareDrafts = (): void => {
  const engine = currentEngine.get();
  const context = engine?.client.context.get();
  if (context) runInBackground(context, engine?.drafts.share() ?? Promise.resolve());
};
export const readLatestDraft = async (conversation: ConversationId): Promise<string> =>
  (await currentEngine.get()?.drafts.read(conversation)) ?? "";
