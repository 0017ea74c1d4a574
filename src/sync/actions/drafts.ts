import type { ConversationId } from "#contract/ids.ts";
import type { DraftKeeper } from "#sync/drafts/draft-keeper.ts";
import { waitForDraftSaves } from "#sync/drafts/pending-saves.ts";
import { currentEngine, getEngine } from "#sync/engine/engine.ts";
import type { SyncPort } from "#sync/store/sync-port.ts";
import type { Draft } from "#sync/store/view-models.ts";
import { listAttachmentDrafts } from "#sync/unsent/attachment-drafts.ts";
import type { DraftTarget } from "#sync/unsent/attachment-rows.ts";
import type { ReplyTarget } from "#sync/unsent/draft-row.ts";
import { listRecordings } from "#sync/unsent/recordings.ts";

/** Whether recordings of a conversation are stored, running ones included. */
export const hasRecordings = async (conversation: ConversationId): Promise<boolean> => {
  await waitForDraftSaves(conversation);
  return listRecordings(getEngine().client.unsent.list(), conversation).length > 0;
};

/**
 * Whether an earlier screen or page left a draft with files or text for the target. Waits for a page that is being
 * closed.
 */
export const hasAttachmentDraft = async (target: DraftTarget): Promise<boolean> => {
  await waitForDraftSaves(target);
  const client = currentEngine.get()?.client;
  if (!client || listAttachmentDrafts(client.unsent.list(), target).length === 0) return false;
  return (await import("#sync/drafts/draft-keeper.ts")).hasLeftDraft(client, target);
};

/**
 * Opens a draft of the target for this page. `onRestored` receives the draft that an earlier screen or page left.
 * Resolves to undefined if the draft cannot be saved, because its code cannot be loaded. `onNotSaved` is called then, and
 * once this device has no room for its files.
 */
export const openAttachmentDraft = async (
  target: DraftTarget,
  onRestored: (saved: Draft) => void,
  onNotSaved?: () => void,
): Promise<DraftKeeper | undefined> => {
  try {
    await waitForDraftSaves(target);
    const { DraftKeeper } = await import("#sync/drafts/draft-keeper.ts");
    return await DraftKeeper.open(getEngine().client, target, onRestored, onNotSaved);
  } catch (error) {
    console.warn("the draft is not saved", error);
  }
  onNotSaved?.();
  return undefined;
};

/** Saves what is typed over the draft `before`, soon; an empty text deletes it. Cheap to call at every keystroke. */
export const saveDraft = (conversation: ConversationId, text: string, before?: string): void => {
  currentEngine.get()?.drafts.type(conversation, text, before);
};

/** Text draft with what was typed at this moment; empty if there is none. */
export const readLatestDraft = (conversation: ConversationId): string =>
  currentEngine.get()?.drafts.read(conversation) ?? "";

/** Sets the message that the draft of a conversation answers; undefined makes it an ordinary draft. */
export const setReplyDraft = (conversation: ConversationId, target: ReplyTarget | undefined): void =>
  currentEngine.get()?.drafts.setReply(conversation, target);

/** Calls the listener when nobody types in the message field of a conversation. Returns a function that cancels it. */
export const afterTyping = (conversation: ConversationId, listener: () => void): (() => void) | undefined =>
  currentEngine.get()?.drafts.afterTyping(conversation, listener);

/** Port with the drafts in which an `EditKeeper` keeps the words of an edit. */
export const getDraftScope = (): SyncPort => getEngine().client;

/** Sends changed drafts to the other devices at once, because the chat is left. */
export const shareDrafts = (): void => {
  void currentEngine.get()?.drafts.share();
};
