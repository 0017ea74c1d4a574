import { useSyncExternalStore } from "react";

/** Minimum width for showing the list and the open chat side by side. */
const twoPanesQuery = "(min-width: 1024px)";

const subscribeToWidth = (listener: () => void): (() => void) => {
  const media = matchMedia(twoPanesQuery);
  media.addEventListener("change", listener);
  return () => media.removeEventListener("change", listener);
};

export const hasTwoPanes = (): boolean => matchMedia(twoPanesQuery).matches;

export const useHasTwoPanes = (): boolean => useSyncExternalStore(subscribeToWidth, hasTwoPanes);
