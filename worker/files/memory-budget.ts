const reservationMaxMs = 60_000;
const pollMs = 100;

/**
 * How many bytes may be held in memory at once, and by whom: each person holds one thing at a time. Work that the platform
 * breaks off gives nothing back itself, and is counted for `longestMs` at most.
 */
export class MemoryBudget {
  readonly #maxBytes: number;
  readonly #waitMaxMs: number;
  readonly #reservations = new Map<string, { bytes: number; until: number }>();

  /** `patienceMs`: for so long somebody waits for room. */
  constructor(max: number, patienceMs: number) {
    this.#maxBytes = max;
    this.#waitMaxMs = patienceMs;
  }

  /** Does the work while the bytes are counted; undefined, and nothing is done, when there was no room for them in time. */
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
