import type { Platform } from "#sync/platform/platform.ts";
import { SyncError } from "#sync/platform/sync-error.ts";

const resultTimeoutMs = 20_000;

type PendingRequest = { resolve(value: unknown): void; reject(error: SyncError): void; cancel(): void };

/** Requests sent over the socket that wait for their results. */
export class PendingRequests {
  readonly #platform: Platform;
  #pending = new Map<number, PendingRequest>();

  constructor(platform: Platform) {
    this.#platform = platform;
  }

  /** Rejects with `unavailable` after `resultTimeoutMs`. */
  waitForResult<T>(ref: number): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const cancel = this.#platform.startTimer(resultTimeoutMs, () => {
        this.#pending.delete(ref);
        reject(new SyncError("unavailable"));
      });
      this.#pending.set(ref, { resolve: resolve as (value: unknown) => void, reject, cancel });
    });
  }

  /** Removes a request, which the caller then resolves or rejects. */
  remove(ref: number): Omit<PendingRequest, "cancel"> | undefined {
    const pending = this.#pending.get(ref);
    this.#pending.delete(ref);
    pending?.cancel();
    return pending;
  }

  /** Rejects all requests of a closed socket. */
  rejectAll(): void {
    for (const ref of [...this.#pending.keys()]) this.remove(ref)?.reject(new SyncError("offline"));
  }
}
