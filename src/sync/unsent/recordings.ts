import type { ConversationId } from "#contract/ids.ts";
import { type RecordingRow, toDraftTarget } from "./attachment-rows.ts";
import { toRemoval, toTimedChange, type UnsentChange, type UnsentState, type Untimed } from "./unsent-state.ts";

/** Voice recordings that were not sent, as the image in memory (`unsent-store.ts`) has them. */

/** Recordings of a conversation, the first one first, or the one with this start. */
export const listRecordings = (
  { recordings }: Pick<UnsentState, "recordings">,
  conversation: ConversationId,
  startedAt?: number,
): RecordingRow[] =>
  [...recordings.values()]
    .filter((row) => toDraftTarget(row.key) === conversation && (startedAt ?? row.startedAt) === row.startedAt)
    .sort((a, b) => a.startedAt - b.startedAt);

/** Change of the recording with this key, at a device time. */
export const changeRecording = (
  key: string,
  at: number,
  change: (row: RecordingRow | undefined) => Untimed<RecordingRow>,
): UnsentChange => toTimedChange("recordings", key, at, change);

export const removeRecording = ({ key }: RecordingRow): UnsentChange => toRemoval("recordings", key);
