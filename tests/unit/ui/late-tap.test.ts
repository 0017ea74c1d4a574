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

/** Whether a click comes through to what is on the page now. */
const arrives = (clientX: number, clientY: number, detail = 1): boolean => {
  const event = new Event("click", { cancelable: true });
  for (const [name, value] of Object.entries({ clientX, clientY, detail }))
    Object.defineProperty(event, name, { value });
  return page.dispatchEvent(event);
};

test("a tap meant for the button of a form that sent itself does not land on the form that came in its place", () => {
  suppressLateTap(button);
  expect(arrives(100, 520)).toBe(false);
  expect(arrives(340, 548)).toBe(false);
});

test("a tap beside that button, a press by the keyboard and a later tap come through", () => {
  suppressLateTap(button);
  expect(arrives(100, 490)).toBe(true);
  expect(arrives(350, 520)).toBe(true);
  expect(arrives(100, 520, 0)).toBe(true);
  vi.advanceTimersByTime(1_000);
  expect(arrives(100, 520)).toBe(true);
});

test("nothing is held up where the form had no button", () => {
  suppressLateTap(undefined);
  expect(arrives(100, 520)).toBe(true);
});
