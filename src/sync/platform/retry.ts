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
  #isWanted = false;
  #isStopped = false;
  #attempt = 0;
  #cancel: (() => void) | undefined;

  constructor(platform: Platform, work: () => Promise<"done" | "again" | "retry">) {
    this.#platform = platform;
    this.#work = work;
  }

  /** Runs soon; while a back-off is under way, at its end. */
  want(): void {
    if (!this.#cancel) void this.#run();
  }

  /** Runs now, back-off or not. */
  hurry(): void {
    this.#cancelWait();
    this.#attempt = 0;
    void this.#run();
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancelWait();
  }

  #cancelWait(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  async #run(): Promise<void> {
    this.#isWanted = true;
    if (this.#isRunning || this.#isStopped) return;
    this.#isRunning = true;
    while (this.#isWanted && !this.#isStopped && !this.#cancel) {
      this.#isWanted = false;
      const outcome = await this.#work().catch(() => "retry" as const);
      if (outcome === "retry") this.#wait();
      else this.#attempt = 0;
      if (outcome === "again") this.#isWanted = true;
    }
    this.#isRunning = false;
  }

  #wait(): void {
    if (this.#isStopped) return;
    this.#cancel = this.#platform.after(retryDelayMs(this.#attempt++, this.#platform.random), () => {
      this.#cancel = undefined;
      void this.#run();
    });
  }
}
