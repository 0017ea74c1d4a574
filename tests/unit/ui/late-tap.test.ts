import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { suppressLateTap } from "#components/controls/late-tap.ts";

const page = new EventTarget();
const button = { left: 20, right: 340, top: 500, bottom: 548 };

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("addEventListener", page.addEventListener.bind(page));
  vi.stubGlobal("removeEventListener", page.removeEventListener.bind(page));
});
afterEach(() => {
  vi.runAllTimers();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** Whether a click reaches the current page. */
const arrives = (clientX: number, clientY: number, detail = 1): boolean => {
  const event = new Event("click", { cancelable: true });
  for (const [name, value] of Object.entries({ clientX, clientY, detail }))
    Object.defineProperty(event, name, { value });
  return page.dispatchEvent(event);
};

test("a tap meant for the button of a form that submitted itself does not reach the form that replaced it", () => {
  suppressLateTap(button);
  expect(arrives(100, 520)).toBe(false);
  expect(arrives(340, 548)).toBe(false);
});

test("a tap beside that button, a key press and a later tap reach the page", () => {
  suppressLateTap(button);
  expect(arrives(100, 490)).toBe(true);
  expect(arrives(350, 520)).toBe(true);
  expect(arrives(100, 520, 0)).toBe(true);
  vi.advanceTimersByTime(1_000);
  expect(arrives(100, 520)).toBe(true);
});

test("no tap is blocked if the form had no button", () => {
  suppressLateTap(undefined);
  expect(arrives(100, 520)).toBe(true);
});
