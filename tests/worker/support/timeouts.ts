/** A look counts for no more of the time, however long the machine did something else meanwhile. */
const lookMs = 50;

/** So much time in which something is waited for and looked at. */
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

  /** Until something wakes it, or it is time to look again. */
  async pause(waking: Promise<unknown>): Promise<void> {
    await Promise.race([waking, scheduler.wait(lookMs)]);
  }
}
