/** Longest time that one poll may use of the limit, however long the machine did something else. */
const lookMs = 50;

/** Time limit that counts only time in which the test could run. */
export class Patience {
  #leftMs: number;
  #lookedAt = performance.now();

  constructor(ms: number) {
    this.#leftMs = ms;
  }

  get isOver(): boolean {
    const now = performance.now();
    this.#leftMs -= Math.min(now - this.#lookedAt, lookMs);
    this.#lookedAt = now;
    return this.#leftMs <= 0;
  }

  /** Waits for a wake-up or the next poll. */
  async pause(waking: Promise<unknown>): Promise<void> {
    await Promise.race([waking, scheduler.wait(lookMs)]);
  }
}
