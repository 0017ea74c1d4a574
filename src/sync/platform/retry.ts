import { retryDelayMs } from "#lib/http/backoff.ts";
import type { Platform } from "./platform.ts";
import { asSyncError, SyncError } from "./sync-error.ts";

/**
 * Repeatable work with at most one run at a time and back-off after failures. `work` returns "again" to run once more
 * at once and "retry" to run again after a delay. A rejection counts as "retry"; the delay is then the one that the
 * server named, if any.
 */
export class Retry {
  readonly #platform: Platform;
  readonly #work: () => Promise<"done" | "again" | "retry">;
  #isRunning = false;
  #isScheduled = false;
  #isStopped = false;
  #attempt = 0;
  #cancelBackoff: (() => void) | undefined;

  constructor(platform: Platform, work: () => Promise<"done" | "again" | "retry">) {
    this.#platform = platform;
    this.#work = work;
  }

  /** Runs at once, after the current run, or at the end of the current back-off. */
  schedule(): void {
    if (!this.#cancelBackoff) void this.#run();
  }

  /** Resets the back-off and runs at once, or after the current run. */
  runNow(): void {
    this.#clearBackoff();
    this.#attempt = 0;
    void this.#run();
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  stop(): void {
    this.#isStopped = true;
    this.#clearBackoff();
  }

  #clearBackoff(): void {
    this.#cancelBackoff?.();
    this.#cancelBackoff = undefined;
  }

  async #run(): Promise<void> {
    this.#isScheduled = true;
    if (this.#isRunning || this.#isStopped) return;
    this.#isRunning = true;
    while (this.#isScheduled && !this.#isStopped && !this.#cancelBackoff) {
      this.#isScheduled = false;
      const outcome = await this.#work().catch(asSyncError);
      if (outcome instanceof SyncError) this.#startBackoff(outcome.retryAfterMs);
      else if (outcome === "retry") this.#startBackoff();
      else this.#attempt = 0;
      if (outcome === "again") this.#isScheduled = true;
    }
    this.#isRunning = false;
  }

  #startBackoff(retryAfterMs?: number): void {
    if (this.#isStopped) return;
    const delayMs = retryAfterMs ?? retryDelayMs(this.#attempt++, this.#platform.random);
    this.#cancelBackoff = this.#platform.startTimer(delayMs, () => {
      this.#cancelBackoff = undefined;
      void this.#run();
    });
  }
}
