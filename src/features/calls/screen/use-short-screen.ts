import { useSyncExternalStore } from "react";

const low = matchMedia("(max-height: 520px), (max-height: 20em)");
const subscribe = (listener: () => void): (() => void) => {
  low.addEventListener("change", listener);
  return () => low.removeEventListener("change", listener);
};

/** A screen with little height for its text: a phone that lies on its side, or a very large text. */
export const useIsLow = (): boolean => useSyncExternalStore(subscribe, () => low.matches);
