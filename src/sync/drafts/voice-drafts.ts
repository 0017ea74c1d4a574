import { type ConversationId, createUuid } from "#contract/ids.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import { commitUnsent } from "#sync/store/sync-context.ts";
import { requireContext, type SyncPort } from "#sync/store/sync-port.ts";
import type { RecordingDraft } from "#sync/store/view-models.ts";
import { type RecordingRow, toDraftKey } from "#sync/unsent/attachment-rows.ts";
import { changeRecording, listRecordings, removeRecording } from "#sync/unsent/recordings.ts";
import { acquireFreeLock, acquireReleasedLock, type DraftLock } from "./draft-locks.ts";

/**
 * Voice recordings, stored chunk by chunk so that a crashed page loses the last chunk at most. A recording is identified
 * by its conversation and its start.
 */

/** Recording as far as it has gone. */
export type Recording = Pick<RecordingRow, "startedAt" | "mime" | "ms" | "levels"> & { conversation: ConversationId };

const toLockKey = (conversation: ConversationId, startedAt: number): string => `voice-${conversation}-${startedAt}`;

/** Acquires the lock of a running recording. While it is held, no page offers the saved chunks. */
export const acquireRecordingLock = (
  port: SyncPort,
  conversation: ConversationId,
  startedAt: number,
): Promise<DraftLock | undefined> => acquireFreeLock(port, [toLockKey(conversation, startedAt)]);

/** Appends a chunk to a recording. Rejects with a SyncError "no_room" if the phone's storage is full. */
export const appendRecordingChunk = async (
  port: SyncPort,
  { conversation, ...recording }: Recording,
  chunk: Blob,
): Promise<void> => {
  const context = requireContext(port);
  const { unsent, platform } = context;
  const id = createUuid(platform.now());
  await unsent.bytes.put(id, chunk).catch(() => {
    throw new SyncError("no_room");
  });
  const key = toDraftKey(conversation, recording.startedAt);
  const append = changeRecording(key, platform.now(), (row) => ({
    ...recording,
    key,
    chunks: [...(row?.chunks ?? []), id],
  }));
  await commitUnsent(context, [append]);
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
  const { unsent } = port;
  await unsent.refresh(); // what another page has committed just now
  const rows = listRecordings(unsent.list(), conversation, startedAt);
  const lock = await acquireReleasedLock(
    port,
    rows.map((row) => toLockKey(conversation, row.startedAt)),
  );
  lock?.release();
  if (lock) await unsent.refresh();
  const released = rows.find((row) => toLockKey(conversation, row.startedAt) === lock?.key);
  const [recording] = released ? listRecordings(unsent.list(), conversation, released.startedAt) : [];
  if (!recording) return undefined;
  const chunks = await Promise.all(recording.chunks.map((id) => unsent.bytes.get(id)));
  if (chunks[0]) return { ...recording, chunks: chunks.flatMap((chunk) => chunk ?? []) };
  // The browser has lost the beginning, without which the rest cannot be played.
  await unsent.changeAll([removeRecording(recording)]).catch(() => undefined);
  return undefined;
};
