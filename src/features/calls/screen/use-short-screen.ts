import { useSyncExternalStore } from "react";

const shortScreen = matchMedia("(max-height: 520px), (max-height: 20em)");
const subscribeShortScreen = (listener: () => void): (() => void) => {
  shortScreen.addEventListener("change", listener);
  return () => shortScreen.removeEventListener("change", listener);
};

/** A screen with little height for its text: a phone that lies on its side, or a very large text. */
export const useIsShortScreen = (): boolean => useSyncExternalStore(subscribeShortScreen, () => shortScreen.matches);
