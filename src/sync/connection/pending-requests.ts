import type { Platform } from "#sync/platform/platform.ts";
import { SyncError } from "#sync/platform/sync-error.ts";

const answerTimeoutMs = 20_000;

type Waiting = { resolve(value: unknown): void; reject(error: SyncError): void; cancel(): void };

/** Questions that went over a socket and wait for their answers. */
export class Answers {
  readonly #platform: Platform;
  #waiting = new Map<number, Waiting>();

  constructor(platform: Platform) {
    this.#platform = platform;
  }

  wait<T>(ref: number): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const cancel = this.#platform.after(answerTimeoutMs, () => {
        this.#waiting.delete(ref);
        reject(new SyncError("unavailable"));
      });
      this.#waiting.set(ref, { resolve: resolve as (value: unknown) => void, reject, cancel });
    });
  }

  settle(ref: number): Omit<Waiting, "cancel"> | undefined {
    const waiting = this.#waiting.get(ref);
    this.#waiting.delete(ref);
    waiting?.cancel();
    return waiting;
  }

  /** The socket is gone. */
  lose(): void {
    for (const ref of [...this.#waiting.keys()]) this.settle(ref)?.reject(new SyncError("offline"));
  }
}
