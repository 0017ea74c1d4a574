/** Page activity: the page is visible and received input or focus recently. */

const activeForMs = 10 * 60_000;
const notifyEveryMs = 2_000;

let lastActivityAt = Date.now();
let lastNotifiedAt = Number.NEGATIVE_INFINITY;
const listeners = new Set<() => void>();

const recordActivity = (): void => {
  if (document.visibilityState !== "visible") return;
  lastActivityAt = Date.now();
  if (lastActivityAt - lastNotifiedAt < notifyEveryMs && lastActivityAt >= lastNotifiedAt) return;
  lastNotifiedAt = lastActivityAt;
  for (const listener of [...listeners]) listener();
};

if (typeof document !== "undefined") {
  for (const type of ["pointerdown", "keydown", "focus"]) {
    addEventListener(type, recordActivity, { capture: true, passive: true });
  }
  document.addEventListener("visibilitychange", recordActivity);
}

export const isPageActive = (): boolean =>
  document.visibilityState === "visible" && Date.now() - lastActivityAt < activeForMs;

/** Notifies of ongoing activity, at most every two seconds. */
export const subscribeToPageActivity = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
  };
};
