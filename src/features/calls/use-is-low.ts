import { useSyncExternalStore } from "react";

const low = matchMedia("(max-height: 520px)");
const subscribe = (listener: () => void): (() => void) => {
  low.addEventListener("change", listener);
  return () => low.removeEventListener("change", listener);
};

/** A screen with little height: a phone that lies on its side. */
export const useIsLow = (): boolean => useSyncExternalStore(subscribe, () => low.matches);
