const reservationMaxMs = 60_000;
const pollMs = 100;

/**
 * Limits the bytes held in memory at once; each person holds one reservation at a time. Work aborted by the platform
 * cannot release its reservation, which therefore expires after `reservationMaxMs`.
 */
export class MemoryBudget {
  readonly #maxBytes: number;
  readonly #waitMaxMs: number;
  readonly #reservations = new Map<string, { bytes: number; until: number }>();

  /** `waitMaxMs`: longest wait for free memory. */
  constructor(max: number, patienceMs: number) {
    this.#maxBytes = max;
    this.#waitMaxMs = patienceMs;
  }

  /** Runs the work with a reservation. Returns undefined, without running it, if no memory became free in time. */
  async runWithin<T>(person: string, bytes: number, work: () => Promise<T>): Promise<{ done: T } | undefined> {
    for (let waited = 0; !this.#hasRoom(person, bytes); waited += pollMs) {
      if (waited >= this.#waitMaxMs) return undefined;
      await scheduler.wait(pollMs);
    }
    const hold = { bytes, until: Date.now() + reservationMaxMs };
    this.#reservations.set(person, hold);
    try {
      return { done: await work() };
    } finally {
      if (this.#reservations.get(person) === hold) this.#reservations.delete(person);
    }
  }

  #hasRoom(person: string, bytes: number, now = Date.now()): boolean {
    let total = bytes;
    for (const [holder, hold] of this.#reservations) {
      if (hold.until <= now) this.#reservations.delete(holder);
      else total += hold.bytes;
    }
    return total <= this.#maxBytes && !this.#reservations.has(person);
  }
}
