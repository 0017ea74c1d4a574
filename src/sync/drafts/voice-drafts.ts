import type { ConversationId } from "#contract/ids.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import { type RecordingRow, toRecordingKeys } from "#sync/store/pending/draft-keys.ts";
import { listRecordings } from "#sync/store/pending/draft-rows.ts";
import { isQuotaError } from "#sync/store/storage-quota.ts";
import { toBlob, toStoredBytes } from "#sync/store/stored-bytes.ts";
import { retryOnQuotaError } from "#sync/store/sync-context.ts";
import { requireContext, type SyncPort } from "#sync/store/sync-port.ts";
import { changeUnsentContent } from "#sync/store/unsent-messages.ts";
import type { RecordingDraft } from "#sync/store/view-models.ts";
import { queryChunks } from "./delete-drafts.ts";
import { acquireFreeSlot, acquireReleasedSlot, type SlotLock } from "./draft-slots.ts";

/**
 * Voice recordings, stored chunk by chunk so that a crashed page loses the last chunk at most. A recording is
 * identified by its conversation and its start.
 */

const toLockKey = (conversation: ConversationId, startedAt: number): string => `voice-${conversation}-${startedAt}`;

/** Acquires the lock of a running recording. While it is held, no page offers the saved chunks. */
export const acquireRecordingLock = (
  port: SyncPort,
  conversation: ConversationId,
  startedAt: number,
): Promise<SlotLock | undefined> => acquireFreeSlot(port, [toLockKey(conversation, startedAt)]);

/**
 * Appends a chunk to a recording. A new recording takes a free slot, so that it replaces none that another page has not
 * sent yet. Rejects with a SyncError, "no_room" if the phone's storage is full.
 */
export const appendRecordingChunk = async (port: SyncPort, recording: RecordingRow, chunk: Blob): Promise<void> => {
  const context = requireContext(port);
  const { store } = context;
  const { conversation, startedAt } = recording;
  const keys = toRecordingKeys(conversation);
  if (port.isInMemory) keys.reverse(); // as for draft slots
  const bytes = await toStoredBytes(store, chunk);
  const write = () =>
    changeUnsentContent(store, conversation, [store.chunks], async () => {
      const rows = await store.recordings.bulkGet(keys);
      const slot = rows.findIndex((row) => row?.startedAt === startedAt);
      const key = keys[slot < 0 ? rows.indexOf(undefined) : slot];
      if (key === undefined) throw new Error("no free slot");
      const n = await queryChunks(store, key).count();
      await store.chunks.add({ conversation: key, n, chunk: bytes });
      await store.recordings.put({ ...recording, conversation: key });
    });
  await retryOnQuotaError(context, write, false).catch((error: unknown) => {
    throw new SyncError(isQuotaError(error) ? "no_room" : "unavailable");
  });
};

/**
 * Finds a recording that an earlier page left, the first of the conversation or the one with this start. Waits for a
 * page that is being closed; recordings in progress are left out.
 */
export const findRecordingDraft = async (
  port: SyncPort,
  conversation: ConversationId,
  startedAt?: number,
): Promise<RecordingDraft | undefined> => {
  const { store } = requireContext(port);
  const rows = await listRecordings(store, conversation, startedAt);
  const lock = await acquireReleasedSlot(
    port,
    rows.map((row) => toLockKey(conversation, row.startedAt)),
  );
  lock?.release();
  const released = rows.find((row) => toLockKey(conversation, row.startedAt) === lock?.key);
  const [recording] = released ? await listRecordings(store, conversation, released.startedAt) : [];
  if (!recording) return undefined;
  const chunks = await queryChunks(store, recording.conversation).toArray();
  return { ...recording, chunks: chunks.map(({ chunk }) => toBlob(chunk)) };
};
