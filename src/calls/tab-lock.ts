import type { Platform } from "#sync/platform/platform.ts";

type LockRequest = { isReleased: boolean; release(): void };

/** Something that one tab of a browser has at a time; it is free again when that tab dies. */
export class TabLock {
  readonly #platform: Pick<Platform, "locks" | "startTimer">;
  readonly #name: string;
  #request: LockRequest | undefined;
  /** Settles when the browser has taken back what was let go. */
  #released: Promise<unknown> = Promise.resolve();

  constructor(platform: Pick<Platform, "locks" | "startTimer">, name: string) {
    this.#platform = platform;
    this.#name = name;
  }

  /**
   * Waits so long for another tab that has it, or for as long as it is wanted; false when it was not had. A browser that
   * is busy may take its time to give what nobody has: that is waited for. Where there are no locks, every tab has it.
   */
  async acquire(waitMs = Number.POSITIVE_INFINITY): Promise<boolean> {
    if (this.#request) return false;
    const turn: LockRequest = { isReleased: false, release: () => {} };
    this.#request = turn;
    await this.#released;
    const { locks, startTimer } = this.#platform;
    if (turn.isReleased || !locks) return !turn.isReleased;
    const giveUp = new AbortController();
    let isSettled = false;
    let cancel = () => {};
    const settle = () => {
      isSettled = true;
      cancel();
    };
    const isAnothers = async () => (await locks.query()).held?.some(({ name }) => name === this.#name) === true;
    const wait = () => {
      cancel = startTimer(waitMs, async () => {
        const isTaken = await isAnothers().catch(() => true);
        if (isSettled) return;
        if (isTaken) giveUp.abort();
        else wait();
      });
    };
    if (Number.isFinite(waitMs)) wait();
    turn.release = () => giveUp.abort();
    return new Promise<boolean>((resolve) => {
      const hold = () => {
        settle();
        if (turn.isReleased) return;
        resolve(true);
        return new Promise<void>((end) => {
          turn.release = end;
        });
      };
      this.#released = locks.request(this.#name, { signal: giveUp.signal }, hold).catch(() => undefined);
      void this.#released.then(() => {
        settle();
        if (this.#request === turn) this.#request = undefined;
        resolve(false);
      });
    });
  }

  release(): void {
    const turn = this.#request;
    if (!turn) return;
    this.#request = undefined;
    turn.isReleased = true;
    turn.release();
  }
}
