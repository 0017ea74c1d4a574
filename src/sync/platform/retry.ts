import { retryDelayMs } from "#lib/http/backoff.ts";
import type { Platform } from "./platform.ts";

/** Age at which a message, file or status that the server still cannot take is marked as failed: 7 days. */
export const sendGiveUpMs = 7 * 24 * 3_600_000;

/**
 * Repeatable work with at most one run at a time and back-off after failures. `work` returns "again" to run once more
 * at once and "retry" to run again after a delay; a rejection counts as "retry".
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
      const outcome = await this.#work().catch(() => "retry" as const);
      if (outcome === "retry") this.#startBackoff();
      else this.#attempt = 0;
      if (outcome === "again") this.#isScheduled = true;
    }
    this.#isRunning = false;
  }

  #startBackoff(): void {
    if (this.#isStopped) return;
    this.#cancelBackoff = this.#platform.startTimer(retryDelayMs(this.#attempt++, this.#platform.random), () => {
      this.#cancelBackoff = undefined;
      void this.#run();
    });
  }
}
