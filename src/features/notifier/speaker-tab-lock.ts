import type { Platform } from "#sync/platform/platform.ts";

const holdMs = 2_500;

/**
 * Of the tabs of a browser one speaks of what arrives: the first to say so, for a moment. Where there are no locks,
 * every tab does.
 */
export class SpeakerTabLock {
  readonly #platform: Pick<Platform, "locks" | "startTimer">;
  readonly #name: string;
  #isHeld = false;

  constructor(platform: Pick<Platform, "locks" | "startTimer">, name: string) {
    this.#platform = platform;
    this.#name = name;
  }

  /** Whether it is this tab's. */
  acquire(): Promise<boolean> {
    const { locks, startTimer } = this.#platform;
    if (this.#isHeld || !locks) return Promise.resolve(true);
    return new Promise((resolve) => {
      const hold = (lock: Lock | null) => {
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
      locks.request(this.#name, { ifAvailable: true }, hold).catch(() => resolve(true));
    });
  }
}
