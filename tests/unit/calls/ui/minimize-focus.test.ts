import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { focusCallBar, minimizeWithFocus } from "#calls/ui/minimize-focus.ts";

const page = new EventTarget();

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("addEventListener", page.addEventListener.bind(page));
  vi.stubGlobal("removeEventListener", page.removeEventListener.bind(page));
  vi.stubGlobal("document", { activeElement: null });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** Whether a bar shown now takes the focus. */
const isTaken = (): boolean => {
  const focus = vi.fn();
  focusCallBar({ querySelector: () => ({ focus }) } as unknown as Element);
  return focus.mock.calls.length > 0;
};

test("the bar of a minimised call takes the focus once, however late a slow phone renders it", () => {
  minimizeWithFocus();
  vi.advanceTimersByTime(10_000);
  expect(isTaken()).toBe(true);
  expect(isTaken()).toBe(false);
});

test("a user who presses something else before the bar is shown keeps the focus", () => {
  for (const press of ["pointerdown", "keydown"]) {
    minimizeWithFocus();
    page.dispatchEvent(new Event(press));
    expect(isTaken(), press).toBe(false);
  }
});

test("a bar does not take the focus from a text field", () => {
  vi.stubGlobal("document", { activeElement: { closest: () => ({}) } });
  minimizeWithFocus();
  expect(isTaken()).toBe(false);
});
