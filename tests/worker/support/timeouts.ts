/** Longest time that one poll may use of the limit, however long the machine did something else. */
const pollMs = 50;

/** Time limit that counts only time in which the test could run. */
export class ActiveTimeout {
  #leftMs: number;
  #lookedAt = performance.now();

  constructor(ms: number) {
    this.#leftMs = ms;
  }

  get isExpired(): boolean {
    const now = performance.now();
    this.#leftMs -= Math.min(now - this.#lookedAt, pollMs);
    this.#lookedAt = now;
    return this.#leftMs <= 0;
  }

  /** Waits for a wake-up or the next poll. */
  async waitOrPoll(waking: Promise<unknown>): Promise<void> {
    await Promise.race([waking, scheduler.wait(pollMs)]);
  }
}
