import type { Platform } from "#sync/platform/platform.ts";

const turnMs = 2_500;

/**
 * Of the tabs of a browser one speaks of what arrives: the first to say so, for a moment. Where there are no locks,
 * every tab does.
 */
export class Turn {
  readonly #platform: Pick<Platform, "locks" | "after">;
  readonly #name: string;
  #isMine = false;

  constructor(platform: Pick<Platform, "locks" | "after">, name: string) {
    this.#platform = platform;
    this.#name = name;
  }

  /** Whether it is this tab's. */
  take(): Promise<boolean> {
    const { locks, after } = this.#platform;
    if (this.#isMine || !locks) return Promise.resolve(true);
    return new Promise((resolve) => {
      const hold = (lock: Lock | null) => {
        this.#isMine = lock !== null;
        resolve(this.#isMine);
        if (!lock) return;
        return new Promise<void>((done) => {
          after(turnMs, () => {
            this.#isMine = false;
            done();
          });
        });
      };
      locks.request(this.#name, { ifAvailable: true }, hold).catch(() => resolve(true));
    });
  }
}
