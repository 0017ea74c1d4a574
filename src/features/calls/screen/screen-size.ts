import { useSyncExternalStore } from "react";

const shortScreen = matchMedia("(max-height: 520px), (max-height: 20em)");
const subscribeShortScreen = (listener: () => void): (() => void) => {
  shortScreen.addEventListener("change", listener);
  return () => shortScreen.removeEventListener("change", listener);
};

/** Whether the screen is short for its text: a phone in landscape, or very large text. */
export const useIsShortScreen = (): boolean => useSyncExternalStore(subscribeShortScreen, () => shortScreen.matches);

const largePx = 24;

/** Whether text is so large that a phone has no height left for avatars beside it. */
export const isLargeText = (fromPx = largePx): boolean =>
  Number.parseFloat(getComputedStyle(document.documentElement).fontSize) >= fromPx;
