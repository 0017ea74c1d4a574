/** Time that passes only in `pass`, running timers in their order. An hour takes a moment. */
export class VirtualTime {
  now: number;
  #order = 0;
  #due: { at: number; order: number; run: () => void }[] = [];

  constructor(start = 1_800_000_000_000) {
    this.now = start;
  }

  after(ms: number, run: () => void): () => void {
    const entry = { at: this.now + Math.max(0, ms), order: this.#order++, run };
    this.#due.push(entry);
    return () => {
      this.#due = this.#due.filter((other) => other !== entry);
    };
  }

  wait(ms: number): Promise<void> {
    return new Promise((resolve) => this.after(ms, resolve));
  }

  /** Lets this much time pass and runs all timers that become due. */
  async pass(ms: number): Promise<void> {
    const until = this.now + ms;
    await runImmediates();
    for (;;) {
      let next = this.#due[0];
      for (const entry of this.#due)
        if (!next || entry.at < next.at || (entry.at === next.at && entry.order < next.order)) next = entry;
      if (!next || next.at > until) break;
      const { at, run } = next;
      this.#due = this.#due.filter((other) => other !== next);
      this.now = Math.max(this.now, at);
      run();
      await runImmediates();
    }
    this.now = until;
  }
}

/** Resolves when everything that needs no timer has run. */
const runImmediates = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Random numbers that are the same in every run of the test. */
export const makeSeededRandom = (seed: number): (() => number) => {
  let state = seed * 2_654_435_761 + 1;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
};
