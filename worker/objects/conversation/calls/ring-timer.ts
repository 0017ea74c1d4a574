import { logError } from "#worker/lib/log.ts";

const marginMs = 20; // so that the clock is never a little earlier than the timer

/**
 * Timer of the moment at which the callee's phone counts as asleep. It is not an alarm, which would cost every call a
 * row: an instance that replaces this one does not know whether a device rings, and lets the call ring as long as
 * usual.
 */
export class RingTimer {
  readonly #findDueAt: () => number | undefined;
  readonly #run: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(findDueAt: () => number | undefined, run: () => void) {
    this.#findDueAt = findDueAt;
    this.#run = run;
  }

  schedule(): void {
    clearTimeout(this.#timer);
    const dueAt = this.#findDueAt();
    if (dueAt !== undefined) this.#timer = setTimeout(() => this.#onDue(), Math.max(0, dueAt - Date.now()) + marginMs);
  }

  #onDue(): void {
    try {
      this.#run();
    } catch (error) {
      logError("a call could not ring longer", error); // it ends as usual
    }
  }
}
