import { useSyncExternalStore } from "react";
import { hasTwoPanes, twoPanesQuery } from "./paths.ts";

const subscribeToWidth = (listener: () => void): (() => void) => {
  const media = matchMedia(twoPanesQuery);
  media.addEventListener("change", listener);
  return () => media.removeEventListener("change", listener);
};

export const useHasTwoPanes = (): boolean => useSyncExternalStore(subscribeToWidth, hasTwoPanes);
