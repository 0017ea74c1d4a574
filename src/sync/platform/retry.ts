import { retryDelayMs } from "#lib/http/backoff.ts";
import type { Platform } from "./platform.ts";

/**
 * Work that is asked for often, done by one run at a time and repeated with back-off while it fails. `work`
 * says whether it got somewhere: "again" runs it once more at once, "retry" after a while.
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

  /** Runs soon; while a back-off is under way, at its end. */
  schedule(): void {
    if (!this.#cancelBackoff) void this.#run();
  }

  /** Runs now, back-off or not. */
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
