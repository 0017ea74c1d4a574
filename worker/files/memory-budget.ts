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
  constructor(max: number, waitMaxMs: number) {
    this.#maxBytes = max;
    this.#waitMaxMs = waitMaxMs;
  }

  /** Runs the work with a reservation. Returns undefined, without running it, if no memory became free in time. */
  async runWithin<T>(person: string, bytes: number, work: () => Promise<T>): Promise<{ done: T } | undefined> {
    for (let waited = 0; !this.#hasRoom(person, bytes); waited += pollMs) {
      if (waited >= this.#waitMaxMs) return undefined;
      await scheduler.wait(pollMs);
    }
    const reservation = { bytes, until: Date.now() + reservationMaxMs };
    this.#reservations.set(person, reservation);
    try {
      return { done: await work() };
    } finally {
      if (this.#reservations.get(person) === reservation) this.#reservations.delete(person);
    }
  }

  #hasRoom(person: string, bytes: number, now = Date.now()): boolean {
    let total = bytes;
    for (const [owner, reservation] of this.#reservations) {
      if (reservation.until <= now) this.#reservations.delete(owner);
      else total += reservation.bytes;
    }
    return total <= this.#maxBytes && !this.#reservations.has(person);
  }
}
