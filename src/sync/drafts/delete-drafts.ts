import type { Table } from "dexie";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import type { LocalStore } from "#sync/store/database.ts";
import { clearJournaledDraftInput } from "#sync/store/journal.ts";
import { type DraftSlot, type DraftTarget, toDraftSlotKeys } from "#sync/store/pending/draft-keys.ts";
import { listRecordings, readDraftRows } from "#sync/store/pending/draft-rows.ts";
import { commitUnsent } from "#sync/store/sync-context.ts";
import { requireContext, type SyncPort } from "#sync/store/sync-port.ts";
import { changeUnsentContent } from "#sync/store/unsent-messages.ts";
import { endDraft } from "#sync/unsent/draft-row.ts";
import { changeDraft } from "#sync/unsent/drafts.ts";
import { edits } from "#sync/unsent/operations.ts";

/** Tables of the bytes of drafts, and of the uploads and cached files that may have adopted them. */
export const draftByteTables = ({ blobs, uploads, files }: LocalStore): Table[] => [blobs, uploads, files];

/** Deletes bytes of drafts, except those that a sent message has adopted. */
export const deleteDraftBytes = (store: LocalStore, ids: readonly Uuid[]): Promise<void> =>
  store.transaction("rw", draftByteTables(store), async () => {
    const adopted = await Promise.all(
      [store.uploads, store.files].map((table) => table.where("file").anyOf(ids).primaryKeys()),
    );
    await store.blobs.bulkDelete(ids.filter((id) => !adopted.flat().includes(id)));
  });

const deleteDraftRows = (store: LocalStore, target: DraftTarget, keys: readonly string[]): Promise<void> =>
  changeUnsentContent(store, target, draftByteTables(store), async () => {
    const rows = await readDraftRows(store, keys);
    await store.meta.bulkDelete([...keys]);
    const ids = rows.flatMap(({ files }) => files.map(({ id }) => id));
    await deleteDraftBytes(store, ids);
  });

/** Deletes the draft of one slot with its bytes. */
export const deleteDraft = (store: LocalStore, { target, key }: DraftSlot): Promise<void> =>
  deleteDraftRows(store, target, [key]);

/** Deletes the target's drafts in all slots, with their bytes and journal entries. */
export const discardDrafts = async (port: SyncPort, target: DraftTarget): Promise<void> => {
  const store = port.context.get()?.store;
  if (!store) return;
  const keys = toDraftSlotKeys(target);
  for (const key of keys) clearJournaledDraftInput(port, key);
  await deleteDraftRows(store, target, keys);
};

export const queryChunks = (store: LocalStore, key: string) =>
  store.chunks.where("[conversation+n]").between([key, 0], [key, Number.MAX_SAFE_INTEGER]);

/** Deletes the recordings of a conversation, or the one with this start. */
export const deleteRecordingDraft = async (
  port: SyncPort,
  conversation: ConversationId,
  startedAt?: number,
): Promise<void> => {
  const { store } = requireContext(port);
  await changeUnsentContent(store, conversation, [store.chunks], async () => {
    for (const { conversation: key } of await listRecordings(store, conversation, startedAt)) {
      await store.recordings.delete(key);
      await queryChunks(store, key).delete();
    }
  });
};

/** Deletes all drafts, parked texts and refused edits of a removed conversation. Clearing its history keeps them. */
export const deleteConversationDrafts = async (port: SyncPort, conversation: ConversationId): Promise<void> => {
  const context = port.context.get();
  if (!context) return;
  const at = port.platform.now();
  await changeDraft(port.unsent, conversation, (draft) => endDraft(draft, at)).catch(() => undefined);
  await discardDrafts(port, conversation);
  await deleteRecordingDraft(port, conversation);
  const refused = edits.list(port.unsent).filter((edit) => edit.conversation === conversation && edit.error);
  await commitUnsent(context, refused.map(edits.end));
};
