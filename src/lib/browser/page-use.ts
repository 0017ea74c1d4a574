/** Whether somebody uses the page: it is visible, and was touched, typed into or come back to lately. */

const usedForMs = 10 * 60_000;
const tellEveryMs = 2_000;

let usedAt = Date.now();
let toldAt = Number.NEGATIVE_INFINITY;
const listeners = new Set<() => void>();

const noteUse = (): void => {
  if (document.visibilityState !== "visible") return;
  usedAt = Date.now();
  if (usedAt - toldAt < tellEveryMs && usedAt >= toldAt) return;
  toldAt = usedAt;
  for (const listener of [...listeners]) listener();
};

if (typeof document !== "undefined") {
  for (const type of ["pointerdown", "keydown", "focus"]) {
    addEventListener(type, noteUse, { capture: true, passive: true });
  }
  document.addEventListener("visibilitychange", noteUse);
}

export const isPageUsed = (): boolean => document.visibilityState === "visible" && Date.now() - usedAt < usedForMs;

/** Hears of use while it goes on, at most every two seconds. */
export const onPageUse = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
  };
};
