import type { AppFrame } from "#contract/wire/app-frames.ts";
import type { Platform } from "#sync/platform/platform.ts";
import { ProcessedCounter } from "./flow-control.ts";

const repeatDelayMs = 1_000; // a device that is behind receives many heads, which share one repeated report

/**
 * Reports to the server that have no answer: the number of processed messages (flow control), and whether the device is
 * in the foreground. The server drops them while it limits the rate, so they are repeated after a refusal.
 */
export class StatusReporter {
  readonly #platform: Pick<Platform, "startTimer">;
  readonly #sendFrame: (frame: AppFrame) => boolean;
  readonly #processed = new ProcessedCounter();
  /** Visibility last reported over this socket. */
  #reportedVisibility: boolean | undefined;
  #cancelRepeat: (() => void) | undefined;

  constructor(platform: Pick<Platform, "startTimer">, sendFrame: (frame: AppFrame) => boolean) {
    this.#platform = platform;
    this.#sendFrame = sendFrame;
  }

  /** Forgets the reports of a closed socket. */
  reset(): void {
    this.#processed.reset();
    this.#reportedVisibility = undefined;
    this.#cancelRepeat?.();
    this.#cancelRepeat = undefined;
  }

  reportVisibility(isVisible: boolean): boolean {
    this.#reportedVisibility = isVisible;
    return this.#sendFrame({ type: "foreground", isForeground: isVisible });
  }

  /** Reports processed messages in batches. `isBehind`: the server waits for the report. */
  countProcessed(messages: number, bytes: number, isBehind = false): void {
    const total = this.#processed.add(messages, bytes, isBehind);
    if (total !== undefined) this.#sendFrame({ type: "received", messages: total });
    else if (isBehind && !this.#cancelRepeat) this.scheduleRepeat();
  }

  /** Repeats the reports: without the repetition the server would wait for a dropped one for ever. */
  scheduleRepeat(ms = repeatDelayMs): void {
    this.#cancelRepeat?.();
    this.#cancelRepeat = this.#platform.startTimer(ms, () => {
      this.#cancelRepeat = undefined;
      const total = this.#processed.repeatReport();
      if (total > 0) this.#sendFrame({ type: "received", messages: total });
      if (this.#reportedVisibility !== undefined) this.reportVisibility(this.#reportedVisibility);
    });
  }
}
