import { receiptHoldMs } from "#contract/limits/delivery.ts";
import { logError } from "#worker/lib/log.ts";
import type { SocketRegistry } from "#worker/objects/user-channel/sockets/socket-registry.ts";
import { type ChangeSequence, counterReserve } from "./change-sequence.ts";
import type { InboxEntry } from "./inbox-merge.ts";
import type { InboxTable } from "./inbox-table.ts";

const unwrittenMax = counterReserve / 2;

/** Defers writes of rows that devices have received, so that changes that follow soon are written together. */
export class WriteBehind {
  readonly #inbox: InboxTable;
  readonly #sequence: Pick<ChangeSequence, "value">;
  readonly #sockets: Pick<SocketRegistry, "isEmpty">;
  /** Counter at the last complete write. */
  #writtenCounter: number;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(inbox: InboxTable, counter: Pick<ChangeSequence, "value">, sockets: Pick<SocketRegistry, "isEmpty">) {
    this.#inbox = inbox;
    this.#sequence = counter;
    this.#sockets = sockets;
    this.#writtenCounter = counter.value;
  }

  deferWrite(entry: InboxEntry): void {
    this.#inbox.stage(entry);
    this.scheduleFlush();
  }

  /**
   * Arranges that all staged rows are written. `isHeld`: the conversation repeats a change that is lost, so it need not
   * be written at once.
   */
  scheduleFlush(isHeld = false): void {
    // Without a connected device the change exists only in memory, so it is written at once.
    if ((this.#sockets.isEmpty && !isHeld) || this.#sequence.value - this.#writtenCounter >= unwrittenMax) this.flush();
    if (!this.#inbox.hasUnwritten) return;
    const waitMs = receiptHoldMs * (1 - Math.random() / 2); // spread, since many channels receive the same change
    this.#timer ??= setTimeout(() => this.#flushOnTimer(), waitMs);
  }

  /** Writes all deferred rows. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#inbox.flush();
    this.#writtenCounter = this.#sequence.value;
  }

  #flushOnTimer(): void {
    try {
      this.flush();
    } catch (error) {
      logError("writing deferred inbox rows failed", error);
    }
  }
}
