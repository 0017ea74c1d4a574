const longestMs = 60_000;
const pollMs = 100;

/**
 * How many bytes may be held in memory at once, and by whom: each person holds one thing at a time. Work that the platform
 * breaks off gives nothing back itself, and is counted for `longestMs` at most.
 */
export class Held {
  readonly #max: number;
  readonly #patienceMs: number;
  readonly #holds = new Map<string, { bytes: number; until: number }>();

  /** `patienceMs`: for so long somebody waits for room. */
  constructor(max: number, patienceMs: number) {
    this.#max = max;
    this.#patienceMs = patienceMs;
  }

  /** Does the work while the bytes are counted; undefined, and nothing is done, when there was no room for them in time. */
  async during<T>(person: string, bytes: number, work: () => Promise<T>): Promise<{ done: T } | undefined> {
    for (let waited = 0; !this.#hasRoom(person, bytes); waited += pollMs) {
      if (waited >= this.#patienceMs) return undefined;
      await scheduler.wait(pollMs);
    }
    const hold = { bytes, until: Date.now() + longestMs };
    this.#holds.set(person, hold);
    try {
      return { done: await work() };
    } finally {
      if (this.#holds.get(person) === hold) this.#holds.delete(person);
    }
  }

  #hasRoom(person: string, bytes: number, now = Date.now()): boolean {
    let total = bytes;
    for (const [holder, hold] of this.#holds) {
      if (hold.until <= now) this.#holds.delete(holder);
      else total += hold.bytes;
    }
    return total <= this.#max && !this.#holds.has(person);
  }
}
