import { vi } from "vitest";
import { until } from "./device.ts";

/**
 * Time passes, for the test and for every object. Until the mocks are restored it passes by this alone: how fast the
 * machine is, is nothing a test counts.
 */
export const pass = (ms: number): void => {
  vi.spyOn(Date, "now").mockReturnValue(Date.now() + ms);
};

const aheadMs = 25_000; // a token from further ahead is none

/**
 * From here on an alarm goes off when the test rings for it, and by itself only long after: it is set by a clock that is
 * so far ahead. How soon one is due is left to chance, and a machine may be slow.
 */
export const holdAlarms = (): void => pass(aheadMs);

/** What objects put off for so long is done when the test says so, by themselves, or once the mocks are restored. */
export const holdTimers = (leastMs: number, mostMs = leastMs) => {
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
    whenHeld: () => until(() => held.size > 0),
    go: async () => {
      isOver = true;
      await until(() => held.size === 0);
    },
  };
};

const tickMs = 10;

/** What comes of it within so much time in which the machine was awake: where it stands still, no more than a tick goes by. */
export const within = async <T>(ms: number, work: Promise<T>): Promise<T> => {
  for (let waitedMs = 0; waitedMs < ms; waitedMs += tickMs) {
    const found = await Promise.race([work.then((value) => ({ value })), scheduler.wait(tickMs)]);
    if (found) return found.value;
  }
  throw new Error(`it did not come within ${ms} ms`);
};
