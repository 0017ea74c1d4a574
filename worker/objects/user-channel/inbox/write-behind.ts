import { markHoldMs } from "#contract/limits.ts";
import { logError } from "#worker/lib/log.ts";
import type { Sockets } from "#worker/objects/user-channel/sockets/socket-registry.ts";
import { type ChangeCounter, counterReserve } from "./change-sequence.ts";
import type { Entry } from "./inbox-merge.ts";
import type { Inbox } from "./inbox-table.ts";

const unwrittenMax = counterReserve / 2;

/** Lets rows that devices have heard of wait for a while, so that what comes soon after is written with them. */
export class Holding {
  readonly #inbox: Inbox;
  readonly #counter: Pick<ChangeCounter, "value">;
  readonly #sockets: Pick<Sockets, "isEmpty">;
  /** The counter when everything was written last. */
  #written: number;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(inbox: Inbox, counter: Pick<ChangeCounter, "value">, sockets: Pick<Sockets, "isEmpty">) {
    this.#inbox = inbox;
    this.#counter = counter;
    this.#sockets = sockets;
    this.#written = counter.value;
  }

  hold(entry: Entry): void {
    this.#inbox.hold(entry);
    // What no device hears of now stands nowhere but here.
    if (this.#sockets.isEmpty || this.#counter.value - this.#written >= unwrittenMax) this.flush();
    if (!this.#inbox.isHolding) return;
    const waitMs = markHoldMs * (1 - Math.random() / 2); // not all at one moment, where many channels heard of the same
    this.#timer ??= setTimeout(() => this.#flushLate(), waitMs);
  }

  /** Writes what was held back. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#inbox.flush();
    this.#written = this.#counter.value;
  }

  #flushLate(): void {
    try {
      this.flush();
    } catch (error) {
      logError("what was held could not be written", error);
    }
  }
}
