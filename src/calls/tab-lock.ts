import type { Platform } from "#sync/platform/platform.ts";

type LockRequest = { isReleased: boolean; release(): void };

/** Web Lock held by one tab of a browser at a time. The browser releases it when that tab dies. */
export class TabLock {
  readonly #platform: Pick<Platform, "locks" | "startTimer">;
  readonly #name: string;
  #request: LockRequest | undefined;
  /** Settles when the browser has released the previous lock. */
  #released: Promise<unknown> = Promise.resolve();

  constructor(platform: Pick<Platform, "locks" | "startTimer">, name: string) {
    this.#platform = platform;
    this.#name = name;
  }

  /**
   * Waits up to `waitMs` for the lock, by default without limit; returns false if it was not acquired. A busy browser
   * may take longer to grant a free lock, so the timeout only counts while another tab holds it. Without the Web Locks
   * API every tab gets the lock.
   */
  async acquire(waitMs = Number.POSITIVE_INFINITY): Promise<boolean> {
    if (this.#request) return false;
    const request: LockRequest = { isReleased: false, release: () => {} };
    this.#request = request;
    await this.#released;
    const { locks, startTimer } = this.#platform;
    if (request.isReleased || !locks) return !request.isReleased;
    const giveUp = new AbortController();
    let isSettled = false;
    let cancel = () => {};
    const settle = () => {
      isSettled = true;
      cancel();
    };
    const isHeldElsewhere = async () => (await locks.query()).held?.some(({ name }) => name === this.#name) === true;
    const wait = () => {
      cancel = startTimer(waitMs, async () => {
        const isHeld = await isHeldElsewhere().catch(() => true);
        if (isSettled) return;
        if (isHeld) giveUp.abort();
        else wait();
      });
    };
    if (Number.isFinite(waitMs)) wait();
    request.release = () => giveUp.abort();
    return new Promise<boolean>((resolve) => {
      const hold = () => {
        settle();
        if (request.isReleased) return;
        resolve(true);
        return new Promise<void>((end) => {
          request.release = end;
        });
      };
      this.#released = locks.request(this.#name, { signal: giveUp.signal }, hold).catch(() => undefined);
      void this.#released.then(() => {
        settle();
        if (this.#request === request) this.#request = undefined;
        resolve(false);
      });
    });
  }

  release(): void {
    const request = this.#request;
    if (!request) return;
    this.#request = undefined;
    request.isReleased = true;
    request.release();
  }
}
