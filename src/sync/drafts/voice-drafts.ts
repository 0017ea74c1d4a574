import Dexie from "dexie";
import type { ConversationId } from "#contract/ids.ts";
import { getContext } from "#sync/outbox/enqueue.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import type { LocalStore, RecordingRow } from "#sync/store/database.ts";
import { isQuotaError } from "#sync/store/storage-quota.ts";
import { retryOnQuotaError } from "#sync/store/sync-context.ts";
import { changeDraft } from "#sync/store/unsent-messages.ts";
import type { RecordingDraft } from "#sync/store/view-models.ts";
import type { Tab } from "#sync/tabs/tab.ts";

/** Voice recordings, stored chunk by chunk so that a crashed page loses the last chunk at most. */

const queryChunks = (store: LocalStore, conversation: ConversationId) =>
  store.chunks.where("[conversation+n]").between([conversation, Dexie.minKey], [conversation, Dexie.maxKey]);

/**
 * Appends a chunk to the recording of a conversation; a recording with another start replaces it. Rejects with a
 * SyncError, "no_room" if the phone's storage is full.
 */
export const appendRecordingChunk = async (tab: Tab, recording: RecordingRow, chunk: Blob): Promise<void> => {
  const context = getContext(tab);
  const { store } = context;
  const { conversation, startedAt } = recording;
  const write = () =>
    changeDraft(store, conversation, [store.chunks], async () => {
      const before = await store.recordings.get(conversation);
      if (before && before.startedAt !== startedAt) await queryChunks(store, conversation).delete();
      const n = await queryChunks(store, conversation).count();
      await store.chunks.add({ conversation, n, chunk });
      await store.recordings.put(recording);
    });
  await retryOnQuotaError(context, write, false).catch((error: unknown) => {
    throw new SyncError(isQuotaError(error) ? "no_room" : "unavailable");
  });
};

export const findRecordingDraft = async (
  tab: Tab,
  conversation: ConversationId,
): Promise<RecordingDraft | undefined> => {
  const { store } = getContext(tab);
  return store.transaction("r", [store.recordings, store.chunks], async () => {
    const recording = await store.recordings.get(conversation);
    if (!recording) return undefined;
    const { startedAt, mime, ms, levels } = recording;
    const chunks = (await queryChunks(store, conversation).toArray()).map(({ chunk }) => chunk);
    return { startedAt, chunks, mime, ms, levels };
  });
};

/**
 * Deletes the recording of a conversation. With `startedAt` only the recording of that start, because a new one may begin
 * before the previous one is deleted.
 */
export const deleteRecordingDraft = async (
  tab: Tab,
  conversation: ConversationId,
  startedAt?: number,
): Promise<void> => {
  const { store } = getContext(tab);
  await changeDraft(store, conversation, [store.chunks], async () => {
    const recording = startedAt === undefined ? undefined : await store.recordings.get(conversation);
    if (recording && recording.startedAt !== startedAt) return;
    await store.recordings.delete(conversation);
    await queryChunks(store, conversation).delete();
  });
};
