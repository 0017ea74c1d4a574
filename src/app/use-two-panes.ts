import { useSyncExternalStore } from "react";

/** Width from which the list and the open chat stand side by side. */
const query = "(min-width: 1024px)";

const subscribe = (listener: () => void): (() => void) => {
  const media = matchMedia(query);
  media.addEventListener("change", listener);
  return () => media.removeEventListener("change", listener);
};

export const useIsWide = (): boolean => useSyncExternalStore(subscribe, () => matchMedia(query).matches);
