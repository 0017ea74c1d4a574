import { minimizeCall } from "#calls/actions.ts";

const inputEvents = ["pointerdown", "keydown"] as const;

let isFocusPending = false;

/** Any other input means that the person has put the focus elsewhere. */
const cancelPendingFocus = (): void => {
  isFocusPending = false;
  for (const inputEvent of inputEvents) removeEventListener(inputEvent, cancelPendingFocus, { capture: true });
};

/** Minimizes the call screen and moves the focus to the bar of the call, even if that appears late. */
export const minimizeWithFocus = (): void => {
  isFocusPending = true;
  for (const inputEvent of inputEvents) addEventListener(inputEvent, cancelPendingFocus, { capture: true });
  minimizeCall();
};

/** Focuses the first action of the call bar, unless the person is writing or sending something. */
export const focusCallBar = (bar: Element | null): void => {
  if (!bar || !isFocusPending) return;
  cancelPendingFocus();
  if (document.activeElement?.closest("form")) return;
  const first = bar.querySelector<HTMLElement>("[data-act=accept]") ?? bar.querySelector<HTMLElement>("button");
  first?.focus({ preventScroll: true });
};
