import type { OutboxRow } from "#sync/store/database.ts";

type FrameBatch = readonly [OutboxRow, ...OutboxRow[]];

/** Groups due messages by frame: a single message, or all messages of a multicast. */
export const groupIntoFrames = (due: readonly OutboxRow[]): FrameBatch[] => {
  const frames: [OutboxRow, ...OutboxRow[]][] = [];
  for (const row of due) {
    const frame = frames.at(-1);
    if (frame && row.spread !== undefined && frame[0].spread === row.spread) frame.push(row);
    else frames.push([row]);
  }
  return frames;
};
