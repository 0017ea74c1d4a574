import { minimise } from "#calls/actions.ts";

const presses = ["pointerdown", "keydown"] as const;

let isFocusOwed = false;

/** Whoever does something else meanwhile has the focus where they want it. */
const forget = (): void => {
  isFocusOwed = false;
  for (const press of presses) removeEventListener(press, forget, { capture: true });
};

/** The person puts the call's screen away: the focus goes with it, to what stands for the call then, however late that comes. */
export const putAway = (): void => {
  isFocusOwed = true;
  for (const press of presses) addEventListener(press, forget, { capture: true });
  minimise();
};

/** What is done first with the call that this bar stands for has the focus, unless its person writes or sends something. */
export const takeFocus = (bar: Element | null): void => {
  if (!bar || !isFocusOwed) return;
  forget();
  if (document.activeElement?.closest("form")) return;
  const first = bar.querySelector<HTMLElement>("[data-act=accept]") ?? bar.querySelector<HTMLElement>("button");
  first?.focus({ preventScroll: true });
};
