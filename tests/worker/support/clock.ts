import { vi } from "vitest";
import { waitUntil } from "./device.ts";

/**
 * Advances the clock for the test and every object. Until the mocks are restored, time passes only through this, so no
 * test depends on the machine's speed.
 */
export const advanceClock = (ms: number): void => {
  vi.spyOn(Date, "now").mockReturnValue(Date.now() + ms);
};

const hourMs = 3_600_000;
let hoursAhead = 1_000; // further than any test advances the clock

/**
 * Stops the clock in an hour that no other test of this runtime uses, so that the buckets that all share in memory are
 * full.
 */
export const stopClockInUnusedHour = (): void => advanceClock(hourMs * ++hoursAhead);

const aheadMs = 25_000; // a token from further ahead is invalid

/**
 * Makes alarms run only when the test triggers them. Alarms set from here on use a clock far ahead, so that they do not
 * become due during a test on a slow machine.
 */
export const suspendAlarms = (): void => advanceClock(aheadMs);

/** Suspends timers of these durations until the test releases them or the mocks are restored. */
export const suspendTimers = (leastMs: number, mostMs = leastMs) => {
  const { setTimeout: setNow, clearTimeout: clearNow } = globalThis;
  const held = new Set<object>();
  let count = 0;
  let isOver = false;
  const setHeld = (work: () => void, ms = 0): unknown => {
    if (ms < leastMs || ms > mostMs) return setNow(work, ms);
    const timer = {};
    held.add(timer);
    count++;
    const look = (): void => {
      if (!held.has(timer)) return;
      if (!isOver && globalThis.setTimeout !== setNow) return void setNow(look, 5);
      work();
      held.delete(timer);
    };
    look();
    return timer;
  };
  const clearHeld = (timer: Parameters<typeof clearTimeout>[0]): void => {
    if (!held.delete(Object(timer))) clearNow(timer);
  };
  vi.spyOn(globalThis, "setTimeout").mockImplementation(setHeld as unknown as typeof setTimeout);
  vi.spyOn(globalThis, "clearTimeout").mockImplementation(clearHeld);
  return {
    count: () => count,
    whenHeld: () => waitUntil(() => held.size > 0),
    go: async () => {
      isOver = true;
      await waitUntil(() => held.size === 0);
    },
  };
};

/** Makes timers of these durations elapse at once. Returns the durations of the timers so far. */
export const elapseTimers = (leastMs: number, mostMs: number): readonly number[] => {
  const { setTimeout: setNow } = globalThis;
  const durations: number[] = [];
  const setElapsed = (work: () => void, ms = 0): unknown => {
    if (ms < leastMs || ms > mostMs) return setNow(work, ms);
    durations.push(ms);
    return setNow(work);
  };
  vi.spyOn(globalThis, "setTimeout").mockImplementation(setElapsed as unknown as typeof setTimeout);
  return durations;
};

const tickMs = 10;

/**
 * Result of `work`, within this much time in which the machine was awake. A pause of the machine counts as one tick.
 */
export const withTimeout = async <T>(ms: number, work: Promise<T>): Promise<T> => {
  for (let waitedMs = 0; waitedMs < ms; waitedMs += tickMs) {
    const found = await Promise.race([work.then((value) => ({ value })), scheduler.wait(tickMs)]);
    if (found) return found.value;
  }
  throw new Error(`it did not come within ${ms} ms`);
};
