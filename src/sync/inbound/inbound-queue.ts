import type { SyncContext } from "#sync/store/sync-context.ts";
import { type ApplyResult, applyServerChanges } from "./apply/apply-server-changes.ts";
import type { ServerChange } from "./server-changes.ts";

type QueueItem = { changes: ServerChange[]; onStored: () => void };

const batchMax = 100; // frames stored in one transaction
const queueMax = 10_000; // far beyond the server's credit; exceeding it discards the queue

export type InboundQueueEvents = {
  onApplied(applied: ApplyResult): void;
  /** The changes could not be stored. They were not acknowledged and can be fetched again. */
  onFailure(error: unknown): void;
  /** Too many changes waited and were discarded. The connection must start again from the stored cursor. */
  onOverflow(): void;
};

/** Stores received changes in order of arrival, the waiting frames together in one transaction. */
export class InboundQueue {
  readonly #context: SyncContext;
  readonly #events: InboundQueueEvents;
  #queue: QueueItem[] = [];
  #draining: Promise<void> | undefined;

  constructor(context: SyncContext, events: InboundQueueEvents) {
    this.#context = context;
    this.#events = events;
  }

  push(changes: ServerChange[], onStored: () => void = () => {}): void {
    if (this.#queue.length >= queueMax) {
      this.clear();
      this.#events.onOverflow();
      return;
    }
    this.#queue.push({ changes, onStored });
    this.#draining ??= this.#drain().finally(() => {
      this.#draining = undefined;
    });
  }

  /** Discards the changes that are not stored yet. */
  clear(): void {
    this.#queue = [];
  }

  /** Resolves when everything received so far is stored or discarded. */
  async waitUntilIdle(): Promise<void> {
    while (this.#draining) await this.#draining;
  }

  async #drain(): Promise<void> {
    while (this.#queue.length > 0) {
      const items = this.#queue.splice(0, batchMax);
      try {
        this.#events.onApplied(
          await applyServerChanges(
            this.#context,
            items.flatMap(({ changes }) => changes),
          ),
        );
        for (const { onStored } of items) onStored();
      } catch (error) {
        this.clear();
        this.#events.onFailure(error);
      }
    }
  }
}
