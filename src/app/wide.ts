import { useSyncExternalStore } from "react";

/** From here on two panes stand side by side (DESIGN.md §10). */
const query = "(min-width: 1024px)";

const subscribe = (listener: () => void): (() => void) => {
  const media = matchMedia(query);
  media.addEventListener("change", listener);
  return () => media.removeEventListener("change", listener);
};

export const useIsWide = (): boolean => useSyncExternalStore(subscribe, () => matchMedia(query).matches);
