import type { OutboxRow } from "#sync/store/database.ts";

type FrameBatch = readonly [OutboxRow, ...OutboxRow[]];

/** What goes in one frame: a message, or all of a spread. */
export const groupIntoFrames = (due: readonly OutboxRow[]): FrameBatch[] => {
  const frames: [OutboxRow, ...OutboxRow[]][] = [];
  for (const row of due) {
    const frame = frames.at(-1);
    if (frame && row.spread !== undefined && frame[0].spread === row.spread) frame.push(row);
    else frames.push([row]);
  }
  return frames;
};
