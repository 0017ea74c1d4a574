import { retryDelayMs } from "#lib/http/backoff.ts";
import type { Platform } from "./platform.ts";
import { asSyncError, SyncError } from "./sync-error.ts";

/** Outcome of one run: nothing left, more to do at once, or a failure after which it runs again. */
export type RetryOutcome = "done" | "again" | "retry" | SyncError;

/**
 * Repeatable work with at most one run at a time and back-off after failures. A rejection is a failure like a returned
 * error; the delay is the one that the error names, if any.
 */
export class Retry {
  readonly #platform: Platform;
  readonly #work: () => Promise<RetryOutcome>;
  #isRunning = false;
  #isScheduled = false;
  #isStopped = false;
  #attempt = 0;
  #cancelBackoff: (() => void) | undefined;
  /** Device time at which a wait named by the server ends; in the past while there is none. */
  #serverWaitEndsAt = Number.NEGATIVE_INFINITY;

  constructor(platform: Platform, work: () => Promise<RetryOutcome>) {
    this.#platform = platform;
    this.#work = work;
  }

  /** Runs at once, after the current run, or at the end of the current back-off. */
  schedule(): void {
    if (!this.#cancelBackoff) void this.#run();
  }

  /** Resets the back-off and runs at once, or after the current run. A wait that the server named is not shortened. */
  runNow(): void {
    if (this.#platform.now() < this.#serverWaitEndsAt) return;
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
    this.#serverWaitEndsAt = Number.NEGATIVE_INFINITY;
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
    if (retryAfterMs !== undefined) this.#serverWaitEndsAt = this.#platform.now() + retryAfterMs;
    this.#cancelBackoff = this.#platform.startTimer(delayMs, () => {
      this.#clearBackoff();
      void this.#run();
    });
  }
}
