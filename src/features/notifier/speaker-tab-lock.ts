import type { Platform } from "#sync/platform/platform.ts";

const holdMs = 2_500;

/**
 * Elects the tab that announces a new message: the first to acquire a Web Lock, which it holds for a moment. Without
 * Web Locks every tab announces.
 */
export class SpeakerTabLock {
  readonly #platform: Pick<Platform, "locks" | "startTimer">;
  readonly #name: string;
  #isHeld = false;

  constructor(platform: Pick<Platform, "locks" | "startTimer">, name: string) {
    this.#platform = platform;
    this.#name = name;
  }

  /** Tries to acquire the lock; true if this tab holds it. */
  acquire(): Promise<boolean> {
    const { locks, startTimer } = this.#platform;
    if (this.#isHeld || !locks) return Promise.resolve(true);
    return new Promise((resolve) => {
      const onLock = (lock: Lock | null) => {
        this.#isHeld = lock !== null;
        resolve(this.#isHeld);
        if (!lock) return;
        return new Promise<void>((done) => {
          startTimer(holdMs, () => {
            this.#isHeld = false;
            done();
          });
        });
      };
      locks.request(this.#name, { ifAvailable: true }, onLock).catch(() => resolve(true));
    });
  }
}
