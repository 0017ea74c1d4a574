import { minimise } from "./actions";

const soonMs = 2_000; // within so long the bar is there

let putAwayAt = Number.NEGATIVE_INFINITY;

/** The person puts the call's screen away: the focus goes with it, to what stands for the call then. */
export const putAway = (): void => {
  putAwayAt = performance.now();
  minimise();
};

/** What is done first with the call that this bar stands for has the focus, unless its person writes or sends something. */
export const takeFocus = (bar: Element | null): void => {
  if (!bar || performance.now() - putAwayAt > soonMs) return;
  putAwayAt = Number.NEGATIVE_INFINITY;
  if (document.activeElement?.closest("form")) return;
  const first = bar.querySelector<HTMLElement>("[data-act=accept]") ?? bar.querySelector<HTMLElement>("button");
  first?.focus({ preventScroll: true });
};
