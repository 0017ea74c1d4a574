import type { Context } from "#sync/store/context.ts";
import type { Applied, Change } from "./apply-changes.ts";
import { takeIn } from "./take-in.ts";

type Item = { changes: Change[]; taken: () => void };

const batchMax = 100; // frames stored in one transaction
const queueMax = 10_000; // far beyond the server's credit: whoever exceeds it is heard again after a fresh start

export type ReceiverEvents = {
  applied(applied: Applied): void;
  /** The changes could not be stored. Nothing was confirmed, so all of it can be had again. */
  failed(error: unknown): void;
};

/** Stores what arrives, in the order of arrival, as many frames at once as are waiting. */
export class Receiver {
  readonly #context: Context;
  readonly #events: ReceiverEvents;
  #queue: Item[] = [];
  #work: Promise<void> | undefined;

  constructor(context: Context, events: ReceiverEvents) {
    this.#context = context;
    this.#events = events;
  }

  push(changes: Change[], taken: () => void = () => {}): void {
    if (this.#queue.length >= queueMax) {
      this.clear();
      this.#events.failed(new Error("more arrives than can be stored"));
      return;
    }
    this.#queue.push({ changes, taken });
    this.#work ??= this.#run().finally(() => {
      this.#work = undefined;
    });
  }

  /** Forgets what is not stored yet. */
  clear(): void {
    this.#queue = [];
  }

  /** Resolves when everything that had arrived is stored, or given up. */
  async idle(): Promise<void> {
    while (this.#work) await this.#work;
  }

  async #run(): Promise<void> {
    while (this.#queue.length > 0) {
      const items = this.#queue.splice(0, batchMax);
      try {
        this.#events.applied(
          await takeIn(
            this.#context,
            items.flatMap(({ changes }) => changes),
          ),
        );
        for (const { taken } of items) taken();
      } catch (error) {
        this.clear();
        this.#events.failed(error);
      }
    }
  }
}
