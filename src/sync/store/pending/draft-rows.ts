import type { ConversationId } from "#contract/ids.ts";
import type { LocalStore } from "#sync/store/database.ts";
import { clearJournaledDraftInput, readJournaledDraftInput } from "#sync/store/journal.ts";
import type { SyncPort } from "#sync/store/sync-port.ts";
import { changeUnsentContent } from "#sync/store/unsent-messages.ts";
import type { UnsentContent } from "#sync/store/view-models.ts";
import {
  type AttachmentDraftRow,
  type DraftSlot,
  type DraftTarget,
  type RecordingRow,
  toDraftSlotKeys,
  toRecordingKeys,
} from "./draft-keys.ts";

/** Rows of the drafts on this device: files and texts that were composed and not sent. */

export const readDraftRows = async (store: LocalStore, keys: readonly string[]): Promise<AttachmentDraftRow[]> =>
  (await store.meta.bulkGet([...keys])).flatMap((row) => (row ? [row.value as AttachmentDraftRow] : []));

export const readDraftRow = async (store: LocalStore, { key }: DraftSlot): Promise<AttachmentDraftRow | undefined> =>
  (await readDraftRows(store, [key]))[0];

/** Moves what was written from the journal into the draft rows: its page closed before the store was written. */
const recoverJournaledDraft = async (port: SyncPort, store: LocalStore, target: DraftTarget): Promise<void> => {
  for (const key of toDraftSlotKeys(target)) {
    const input = readJournaledDraftInput(port, key);
    if (!input) continue;
    await changeUnsentContent(store, target, [], async () => {
      const [row] = await readDraftRows(store, [key]);
      // A chosen audience alone is no draft.
      if (input.text === "" && !row?.files.length) return store.meta.delete(key);
      const value: AttachmentDraftRow = { files: [], isOriginal: false, to: [], ...row, ...input };
      await store.meta.put({ key, value });
    });
    clearJournaledDraftInput(port, key);
  }
};

/** Keys of the target's slots that hold a draft. */
export const listDraftKeys = async (port: SyncPort, store: LocalStore, target: DraftTarget): Promise<string[]> => {
  await recoverJournaledDraft(port, store, target);
  const rows = await store.meta.bulkGet(toDraftSlotKeys(target));
  return rows.flatMap((row) => row?.key ?? []);
};

/** Recordings of a conversation, or the one with this start. */
export const listRecordings = async (
  store: LocalStore,
  conversation: ConversationId,
  startedAt?: number,
): Promise<RecordingRow[]> =>
  (await store.recordings.bulkGet(toRecordingKeys(conversation))).flatMap((row) =>
    row && (startedAt ?? row.startedAt) === row.startedAt ? row : [],
  );

/** Files and voice recordings of a conversation that were not sent. */
export const readUnsentContent = async (store: LocalStore, conversation: ConversationId): Promise<UnsentContent> => {
  const files = (await readDraftRows(store, toDraftSlotKeys(conversation))).flatMap((row) => row.files);
  const recordings = await listRecordings(store, conversation);
  return { files, recordings: recordings.map(({ startedAt, ms }) => ({ startedAt, ms })) };
};
