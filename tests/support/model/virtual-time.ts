/** Time that only passes when it is told to, in the order of what is due: an hour of it takes a moment. */
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

  /** Lets so much time pass, with all that happens in it. */
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

/** Whatever waits for no time has happened. */
const runImmediates = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Chance that is the same whenever the test runs. */
export const makeSeededRandom = (seed: number): (() => number) => {
  let state = seed * 2_654_435_761 + 1;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
};
