import type { ChangesResult, Command } from "#contract/wire/commands.ts";
import { Retry } from "#sync/platform/retry.ts";
import type { Context } from "#sync/store/context.ts";
import { afterHolePage, readCursor } from "#sync/store/sync-cursor.ts";
import type { Change } from "./apply-changes.ts";
import type { Receiver } from "./inbound-queue.ts";
import { rowChanges } from "./row-changes.ts";

export type AskChanges = (command: Extract<Command, { type: "changes" }>) => Promise<ChangesResult>;

/** Fills what the cursor leaves out, newest part first. */
export class Resume {
  readonly #context: Context;
  readonly #receiver: Receiver;
  readonly #ask: AskChanges;
  /** The inbox answered under another epoch: only a new hello makes sense of it. */
  readonly #onForeign: () => void;
  readonly #retry: Retry;

  constructor(context: Context, receiver: Receiver, ask: AskChanges, onForeign: () => void) {
    this.#context = context;
    this.#receiver = receiver;
    this.#ask = ask;
    this.#onForeign = onForeign;
    this.#retry = new Retry(context.platform, () => this.#fill());
  }

  want(): void {
    this.#retry.want();
  }

  hurry(): void {
    this.#retry.hurry();
  }

  stop(): void {
    this.#retry.stop();
  }

  async #fill(): Promise<"done" | "again" | "retry"> {
    await this.#receiver.idle();
    const { epoch, holes, counter } = await readCursor(this.#context.store);
    const hole = holes.at(-1);
    if (!hole) return "done";
    const { since, before } = hole;
    const result = await this.#ask({ type: "changes", since, ...(before === null ? {} : { before }) });
    if (result.epoch !== epoch) {
      this.#onForeign();
      return "retry";
    }
    // Without an upper end the answer speaks for everything up to its own counter.
    const reached = before === null ? result.counter : 0;
    const isAll = result.since === 0;
    const answered: Change = {
      type: "answer",
      asked: counter,
      epoch,
      counter: result.counter,
      isAnew: isAll && before === null,
      changes: rowChanges(result, isAll),
      move: (cursor) => {
        if (cursor.epoch !== epoch) return cursor;
        const after = afterHolePage(cursor, hole, result.before, result.since);
        return { ...after, counter: Math.max(after.counter, reached) };
      },
    };
    let isStored = false;
    this.#receiver.push([answered], () => {
      isStored = true;
    });
    await this.#receiver.idle();
    return isStored ? "again" : "retry"; // a full phone: at once it would be asked for again and again
  }
}
