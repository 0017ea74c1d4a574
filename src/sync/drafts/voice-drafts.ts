import Dexie from "dexie";
import type { ConversationId } from "#contract/ids.ts";
import { getContext } from "#sync/outbox/enqueue.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import { withRoom } from "#sync/store/context.ts";
import type { RecordingRow, Store } from "#sync/store/database.ts";
import { isQuotaError } from "#sync/store/storage-quota.ts";
import { changeBegun } from "#sync/store/unsent-rows.ts";
import type { KeptRecording } from "#sync/store/views.ts";
import type { Tab } from "#sync/tabs/tab.ts";

/** A voice message while it is recorded, piece by piece, so that a page that dies loses no more than the last one. */

const chunksOf = (store: Store, conversation: ConversationId) =>
  store.chunks.where("[conversation+n]").between([conversation, Dexie.minKey], [conversation, Dexie.maxKey]);

export const keep = async (tab: Tab, recording: RecordingRow, chunk: Blob): Promise<void> => {
  const context = getContext(tab);
  const { store } = context;
  const { conversation, startedAt } = recording;
  const write = () =>
    changeBegun(store, conversation, [store.chunks], async () => {
      const before = await store.recordings.get(conversation);
      if (before && before.startedAt !== startedAt) await chunksOf(store, conversation).delete();
      const n = await chunksOf(store, conversation).count();
      await store.chunks.add({ conversation, n, chunk });
      await store.recordings.put(recording);
    });
  await withRoom(context, write, false).catch((error: unknown) => {
    throw new SyncError(isQuotaError(error) ? "no_room" : "unavailable");
  });
};

export const find = async (tab: Tab, conversation: ConversationId): Promise<KeptRecording | undefined> => {
  const { store } = getContext(tab);
  return store.transaction("r", [store.recordings, store.chunks], async () => {
    const recording = await store.recordings.get(conversation);
    if (!recording) return undefined;
    const { startedAt, mime, ms, levels } = recording;
    const chunks = (await chunksOf(store, conversation).toArray()).map(({ chunk }) => chunk);
    return { startedAt, chunks, mime, ms, levels };
  });
};

/** Whatever is kept there, or only what began then: somebody may speak anew before the one before is thrown away. */
export const drop = async (tab: Tab, conversation: ConversationId, startedAt?: number): Promise<void> => {
  const { store } = getContext(tab);
  await changeBegun(store, conversation, [store.chunks], async () => {
    const kept = startedAt === undefined ? undefined : await store.recordings.get(conversation);
    if (kept && kept.startedAt !== startedAt) return;
    await store.recordings.delete(conversation);
    await chunksOf(store, conversation).delete();
  });
};
