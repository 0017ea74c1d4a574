import { hourMs } from "#contract/limits/durations.ts";
import { logError } from "#worker/lib/log.ts";
import type { DevicePushResult } from "./device-sender.ts";

const timerMaxMs = 6_000; // a pending timer keeps the object in memory; longer waits use the alarm alone
const alarmDelayMs = 3_000; // how long the alarm follows a timer, which an instance that dies takes with it
const retryMinMs = 5_000;
const retryMaxMs = hourMs;

/**
 * Delay of another attempt: what the push service asked for, otherwise about as long as the messages have been waiting,
 * so that delays double without being counted. Random, since a push service fails for many people at once.
 */
export const toRetryDelayMs = (result: DevicePushResult, waitingMs: number): number => {
  const askedMs = result.type === "retry" ? result.afterMs : undefined;
  return (askedMs ?? Math.min(retryMaxMs, Math.max(retryMinMs, waitingMs))) * (1 + Math.random() / 4);
};

/** The object's alarm, shared by several kinds of work: when it rings, each looks for what is due. */
export class SharedAlarm {
  readonly #ctx: DurableObjectState;
  /** Time of the alarm that this instance set. */
  #at = Number.POSITIVE_INFINITY;

  constructor(ctx: DurableObjectState) {
    this.#ctx = ctx;
  }

  /** Sets the alarm unless it rings soon enough. */
  setAtLatest(at: number, now: number): void {
    if (this.#at <= at && this.#at >= now) return;
    this.#at = at;
    void this.#ctx.storage.setAlarm(at);
  }

  handleAlarm(): void {
    this.#at = Number.POSITIVE_INFINITY;
  }
}

/** Runs work at a time: by a timer when it is close, and by the object's alarm, which outlives this instance. */
export class WakeUp {
  readonly #alarm: SharedAlarm;
  readonly #run: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(alarm: SharedAlarm, run: () => void) {
    this.#alarm = alarm;
    this.#run = run;
  }

  /** Replaces the previous time. An alarm that is not needed any more stays: it costs less than deleting it. */
  schedule(at: number | undefined, now: number): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (at === undefined) return;
    const waitMs = Math.max(0, at - now);
    if (waitMs <= timerMaxMs) this.#timer = setTimeout(() => this.#runOnTimer(), waitMs);
    this.#alarm.setAtLatest(waitMs <= timerMaxMs ? now + waitMs + alarmDelayMs : at, now);
  }

  #runOnTimer(): void {
    try {
      this.#run();
    } catch (error) {
      logError("pushing failed", error); // the alarm tries again
    }
  }
}
