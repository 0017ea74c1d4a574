import { useSyncExternalStore } from "react";

const subscribeToDocumentVisibility = (listener: () => void): (() => void) => {
  document.addEventListener("visibilitychange", listener);
  return () => document.removeEventListener("visibilitychange", listener);
};

/** Whether somebody may be looking: false in a background tab and behind a locked screen. */
export const useIsDocumentVisible = (): boolean =>
  useSyncExternalStore(subscribeToDocumentVisibility, () => document.visibilityState === "visible");
