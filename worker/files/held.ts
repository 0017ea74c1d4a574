const longestMs = 60_000;

/**
 * How many bytes may be held in memory at once. What finds no room is told so instead of waiting for it. Work that the
 * platform breaks off gives nothing back itself, and is counted for `longestMs` at most.
 */
export class Held {
  readonly #max: number;
  readonly #holds = new Set<{ bytes: number; until: number }>();

  constructor(max: number) {
    this.#max = max;
  }

  /** Does the work while the bytes are counted; undefined, and nothing is done, when there is no room for them. */
  during<T>(bytes: number, work: () => Promise<T>, now = Date.now()): Promise<T> | undefined {
    let total = bytes;
    for (const hold of this.#holds) {
      if (hold.until <= now) this.#holds.delete(hold);
      else total += hold.bytes;
    }
    if (total > this.#max) return undefined;
    const hold = { bytes, until: now + longestMs };
    this.#holds.add(hold);
    return work().finally(() => this.#holds.delete(hold));
  }
}
