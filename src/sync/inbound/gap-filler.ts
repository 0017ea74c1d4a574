import type { ChangesResult, Command } from "#contract/wire/commands.ts";
import { Retry } from "#sync/platform/retry.ts";
import type { SyncContext } from "#sync/store/sync-context.ts";
import { type CursorGap, readSyncCursor, type SyncCursor, toRemainingGap } from "#sync/store/sync-cursor.ts";
import type { InboundQueue } from "./inbound-queue.ts";
import { type ServerChange, toRowChanges } from "./server-changes.ts";

export type RequestChanges = (command: Extract<Command, { type: "changes" }>) => Promise<ChangesResult>;

/**
 * Shrinks a gap to what one page of its answer left out. `since` is the change the page starts after: the start of the
 * gap, or 0 if the server answered with everything.
 */
const shrinkGap = (cursor: SyncCursor, gap: CursorGap, before: number | null, since = gap.since): SyncCursor => {
  const isSame = (other: CursorGap) => other.since === gap.since && other.before === gap.before;
  return {
    ...cursor,
    gaps: cursor.gaps.flatMap((other) => (isSame(other) ? toRemainingGap(since, before) : [other])),
  };
};

/**
 * Fetches the changes missing below the cursor, newest gap first. `SocketSession` detects a missing change by its
 * number.
 */
export class GapFiller {
  readonly #context: SyncContext;
  readonly #inbound: InboundQueue;
  readonly #request: RequestChanges;
  /** The inbox answered under another epoch, which only a new hello resolves. */
  readonly #onEpochChange: () => void;
  readonly #retry: Retry;

  constructor(context: SyncContext, inbound: InboundQueue, request: RequestChanges, onEpochChange: () => void) {
    this.#context = context;
    this.#inbound = inbound;
    this.#request = request;
    this.#onEpochChange = onEpochChange;
    this.#retry = new Retry(context.platform, () => this.#fillNext());
  }

  schedule(): void {
    this.#retry.schedule();
  }

  runNow(): void {
    this.#retry.runNow();
  }

  stop(): void {
    this.#retry.stop();
  }

  async #fillNext(): Promise<"done" | "again" | "retry"> {
    await this.#inbound.waitUntilIdle();
    const { epoch, gaps, counter } = await readSyncCursor(this.#context.store);
    const gap = gaps.at(-1);
    if (!gap) return "done";
    const { since, before } = gap;
    const result = await this.#request({ type: "changes", since, ...(before === null ? {} : { before }) });
    if (result.epoch !== epoch) {
      this.#onEpochChange();
      return "retry";
    }
    // The answer to an open-ended gap covers everything up to its own counter.
    const coveredUpTo = before === null ? result.counter : 0;
    const answer: ServerChange = {
      type: "answer",
      knownCounter: counter,
      epoch,
      counter: result.counter,
      changes: toRowChanges(result),
      move: (cursor) => {
        if (cursor.epoch !== epoch) return cursor;
        const after = shrinkGap(cursor, gap, result.before, result.since);
        return { ...after, counter: Math.max(after.counter, coveredUpTo) };
      },
    };
    let isStored = false;
    this.#inbound.push([answer], () => {
      isStored = true;
    });
    await this.#inbound.waitUntilIdle();
    return isStored ? "again" : "retry"; // full device: retrying at once would loop
  }
}
