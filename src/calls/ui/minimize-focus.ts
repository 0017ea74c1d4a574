import { minimizeCall } from "#calls/actions.ts";

const inputEvents = ["pointerdown", "keydown"] as const;

let isFocusPending = false;

/** Whoever does something else meanwhile has the focus where they want it. */
const cancelPendingFocus = (): void => {
  isFocusPending = false;
  for (const press of inputEvents) removeEventListener(press, cancelPendingFocus, { capture: true });
};

/** The person puts the call's screen away: the focus goes with it, to what stands for the call then, however late that comes. */
export const minimizeWithFocus = (): void => {
  isFocusPending = true;
  for (const press of inputEvents) addEventListener(press, cancelPendingFocus, { capture: true });
  minimizeCall();
};

/** What is done first with the call that this bar stands for has the focus, unless its person writes or sends something. */
export const focusCallBar = (bar: Element | null): void => {
  if (!bar || !isFocusPending) return;
  cancelPendingFocus();
  if (document.activeElement?.closest("form")) return;
  const first = bar.querySelector<HTMLElement>("[data-act=accept]") ?? bar.querySelector<HTMLElement>("button");
  first?.focus({ preventScroll: true });
};
