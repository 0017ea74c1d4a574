import type { ConversationId } from "#contract/ids.ts";
import {
  type DraftRow,
  type DraftSlot,
  type DraftTarget,
  type LocalStore,
  toDraftSlotKeys,
  toTextDraftKey,
} from "#sync/store/database.ts";
import { clearJournaledDraftText, readJournaledDraftText } from "#sync/store/journal.ts";
import { changeDraft } from "#sync/store/unsent-messages.ts";
import type { UnsentContent } from "#sync/store/view-models.ts";
import type { Tab } from "#sync/tabs/tab.ts";
import { deleteRecordingDraft } from "./voice-drafts.ts";

/** What was begun in a conversation and not sent. */

const readDraftRows = async (store: LocalStore, keys: readonly string[]): Promise<DraftRow[]> =>
  (await store.meta.bulkGet([...keys])).flatMap((row) => (row ? [row.value as DraftRow] : []));

export const readDraftRow = async (store: LocalStore, { key }: DraftSlot): Promise<DraftRow | undefined> =>
  (await readDraftRows(store, [key]))[0];

/** What was being written there when its page was left, of which the store has an older text or nothing. */
const recoverJournaledDraft = async (
  { platform, userId }: Tab,
  store: LocalStore,
  place: DraftTarget,
): Promise<void> => {
  const notes = { platform, me: userId };
  for (const key of toDraftSlotKeys(place)) {
    const text = readJournaledDraftText(notes, key);
    if (text === undefined) continue;
    await changeDraft(store, place, [], async () => {
      const [kept] = await readDraftRows(store, [key]);
      const value: DraftRow = { files: [], isOriginal: false, to: [], ...kept, text };
      await store.meta.put({ key, value });
    });
    clearJournaledDraftText(notes, key);
  }
};

/** Where something is kept of what was chosen in a place. */
export const listDraftKeys = async (tab: Tab, store: LocalStore, place: DraftTarget): Promise<string[]> => {
  await recoverJournaledDraft(tab, store, place);
  const rows = await store.meta.bulkGet(toDraftSlotKeys(place));
  return rows.flatMap((row) => row?.key ?? []);
};

const deleteDraftRows = (store: LocalStore, place: DraftTarget, keys: readonly string[]): Promise<boolean> =>
  changeDraft(store, place, [store.blobs], async () => {
    const kept = await readDraftRows(store, keys);
    await store.meta.bulkDelete([...keys]);
    await store.blobs.bulkDelete(kept.flatMap(({ files }) => files.map(({ id }) => id)));
    return kept.length > 0;
  });

/** Forgets what one page kept of a choice; false when nothing was. */
export const deleteDraft = (store: LocalStore, { target, key }: DraftSlot): Promise<boolean> =>
  deleteDraftRows(store, target, [key]);

/** Forgets what was chosen there, by all pages unless told which, and what these were writing when they were left. */
export const discardDrafts = async (tab: Tab, place: DraftTarget, keys = toDraftSlotKeys(place)): Promise<void> => {
  const store = tab.context.get()?.store;
  if (!store) return;
  for (const key of keys) clearJournaledDraftText({ platform: tab.platform, me: tab.userId }, key);
  await deleteDraftRows(store, place, keys);
};

/** What was chosen or recorded there, and not sent. */
export const readUnsentContent = async (store: LocalStore, conversation: ConversationId): Promise<UnsentContent> => {
  const files = (await readDraftRows(store, toDraftSlotKeys(conversation))).flatMap((choice) => choice.files);
  const recording = await store.recordings.get(conversation);
  return { files, ...(recording ? { recorded: { startedAt: recording.startedAt, ms: recording.ms } } : {}) };
};

/** It is no history: it outlives clearing, and goes with the conversation. */
export const deleteConversationDrafts = async (tab: Tab, conversation: ConversationId): Promise<void> => {
  const store = tab.context.get()?.store;
  if (!store) return;
  await store.meta.delete(toTextDraftKey(conversation));
  await discardDrafts(tab, conversation);
  await deleteRecordingDraft(tab, conversation);
};
