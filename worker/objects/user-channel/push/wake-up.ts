import { logError } from "#worker/lib/log.ts";
import type { DevicePushResult } from "./device-sender.ts";

const timerMaxMs = 6_000; // a pending timer keeps the object in memory; longer waits use the alarm alone
const alarmDelayMs = 3_000; // how long the alarm follows a timer, which an instance that dies takes with it
const retryMinMs = 5_000;
const retryMaxMs = 3_600_000;

/**
 * Delay of another attempt: what the push service asked for, otherwise about as long as the messages have been waiting,
 * so that delays double without being counted. Random, since a push service fails for many people at once.
 */
export const toRetryDelayMs = (result: DevicePushResult, waitingMs: number): number => {
  const askedMs = result.type === "retry" ? result.afterMs : undefined;
  return (askedMs ?? Math.min(retryMaxMs, Math.max(retryMinMs, waitingMs))) * (1 + Math.random() / 4);
};

/** Runs work at a time: by a timer when it is close, and by the object's alarm, which outlives this instance. */
export class WakeUp {
  readonly #ctx: DurableObjectState;
  readonly #run: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Time of the alarm that this instance set. */
  #alarmAt = Number.POSITIVE_INFINITY;

  constructor(ctx: DurableObjectState, run: () => void) {
    this.#ctx = ctx;
    this.#run = run;
  }

  /** Replaces the previous time. An alarm that is not needed any more stays: it costs less than deleting it. */
  schedule(at: number | undefined, now: number): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (at === undefined) return;
    const waitMs = Math.max(0, at - now);
    if (waitMs <= timerMaxMs) this.#timer = setTimeout(() => this.#runOnTimer(), waitMs);
    this.#setAlarm(waitMs <= timerMaxMs ? now + waitMs + alarmDelayMs : at, now);
  }

  handleAlarm(): void {
    this.#alarmAt = Number.POSITIVE_INFINITY;
  }

  #runOnTimer(): void {
    try {
      this.#run();
    } catch (error) {
      logError("pushing new messages failed", error); // the alarm tries again
    }
  }

  /** Sets the alarm unless it rings soon enough. */
  #setAlarm(at: number, now: number): void {
    if (this.#alarmAt <= at && this.#alarmAt >= now) return;
    this.#alarmAt = at;
    void this.#ctx.storage.setAlarm(at);
  }
}
