import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { isDoubleTapOfAccept, recordAccept, recordHangUpShown, swallowSecondTap } from "#calls/ui/double-tap.ts";

const page = new EventTarget();
const frameMs = 1_500;

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("addEventListener", page.addEventListener.bind(page));
  vi.stubGlobal("removeEventListener", page.removeEventListener.bind(page));
  vi.stubGlobal("requestAnimationFrame", (run: () => void) => setTimeout(run, frameMs));
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

type Tap = { type?: string; at: number; x?: number; y?: number; detail?: number };

/** Whether the tap reaches the page. */
const arrives = ({ type = "click", at, x = 100, y = 700, detail = 1 }: Tap): boolean => {
  const event = new Event(type, { cancelable: true });
  for (const [name, value] of Object.entries({ timeStamp: at, clientX: x, clientY: y, detail })) {
    Object.defineProperty(event, name, { value });
  }
  return page.dispatchEvent(event);
};

test("the second tap of a double tap does not reach what the first one uncovered", () => {
  swallowSecondTap({ timeStamp: 1_000, clientX: 100, clientY: 700 });
  for (const type of ["pointerdown", "mousedown", "click"]) expect(arrives({ type, at: 1_250 }), type).toBe(false);
});

test("a tap elsewhere, a later tap, the first tap and a key reach the page", () => {
  swallowSecondTap({ timeStamp: 1_000, clientX: 100, clientY: 700 });
  expect(arrives({ at: 1_250, x: 300 })).toBe(true);
  expect(arrives({ at: 1_250, y: 100 })).toBe(true);
  expect(arrives({ at: 1_800 })).toBe(true);
  expect(arrives({ at: 1_000 })).toBe(true);
  expect(arrives({ at: 1_250, detail: 0 })).toBe(true);
});

test("the listener is removed after the longest delay of a busy phone", () => {
  swallowSecondTap({ timeStamp: 1_000, clientX: 100, clientY: 700 });
  vi.advanceTimersByTime(2_000);
  expect(arrives({ at: 1_250 })).toBe(true);
});

test("a user cannot end a call they have just answered, counted from when the end button is shown", () => {
  vi.setSystemTime(0);
  recordAccept({ timeStamp: 1_000 });
  expect([isDoubleTapOfAccept({ timeStamp: 1_300 }), isDoubleTapOfAccept({ timeStamp: 1_800 })]).toEqual([true, false]);
  recordHangUpShown();
  // A busy phone renders it late.
  vi.advanceTimersByTime(2 * frameMs - 1);
  expect(isDoubleTapOfAccept({ timeStamp: performance.now() })).toBe(true);
  vi.advanceTimersByTime(1);
  const shown = performance.now();
  expect([isDoubleTapOfAccept({ timeStamp: shown + 300 }), isDoubleTapOfAccept({ timeStamp: shown + 800 })]).toEqual([
    true,
    false,
  ]);
  vi.advanceTimersByTime(5_000);
  recordHangUpShown(); // minimised and shown again
  expect(isDoubleTapOfAccept({ timeStamp: shown + 5_001 })).toBe(false);
});
