import type { Platform } from "#sync/platform/platform.ts";

type Turn = { isOver: boolean; end(): void };

/** Something that one tab of a browser has at a time; it is free again when that tab dies. */
export class Hold {
  readonly #platform: Pick<Platform, "locks" | "after">;
  readonly #name: string;
  #turn: Turn | undefined;
  /** Settles when the browser has taken back what was let go. */
  #free: Promise<unknown> = Promise.resolve();

  constructor(platform: Pick<Platform, "locks" | "after">, name: string) {
    this.#platform = platform;
    this.#name = name;
  }

  /**
   * Waits so long for another tab that has it, or for as long as it is wanted; false when it was not had. A browser that
   * is busy may take its time to give what nobody has: that is waited for. Where there are no locks, every tab has it.
   */
  async take(waitMs = Number.POSITIVE_INFINITY): Promise<boolean> {
    if (this.#turn) return false;
    const turn: Turn = { isOver: false, end: () => {} };
    this.#turn = turn;
    await this.#free;
    const { locks, after } = this.#platform;
    if (turn.isOver || !locks) return !turn.isOver;
    const giveUp = new AbortController();
    let isSettled = false;
    let cancel = () => {};
    const settle = () => {
      isSettled = true;
      cancel();
    };
    const isAnothers = async () => (await locks.query()).held?.some(({ name }) => name === this.#name) === true;
    const wait = () => {
      cancel = after(waitMs, async () => {
        const isTaken = await isAnothers().catch(() => true);
        if (isSettled) return;
        if (isTaken) giveUp.abort();
        else wait();
      });
    };
    if (Number.isFinite(waitMs)) wait();
    turn.end = () => giveUp.abort();
    return new Promise<boolean>((resolve) => {
      const hold = () => {
        settle();
        if (turn.isOver) return;
        resolve(true);
        return new Promise<void>((end) => {
          turn.end = end;
        });
      };
      this.#free = locks.request(this.#name, { signal: giveUp.signal }, hold).catch(() => undefined);
      void this.#free.then(() => {
        settle();
        if (this.#turn === turn) this.#turn = undefined;
        resolve(false);
      });
    });
  }

  release(): void {
    const turn = this.#turn;
    if (!turn) return;
    this.#turn = undefined;
    turn.isOver = true;
    turn.end();
  }
}
