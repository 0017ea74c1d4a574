import { useLayoutEffect } from "react";
import { Observable } from "#lib/browser/observable.ts";

let overlayCount = 0;

/** Whether an overlay hides the composer of the open chat, and with it a running recording. */
export const isComposerCovered = new Observable(false);

/** Registers an overlay above the composer while `isOpen`. */
export const useComposerOverlay = (isOpen: boolean): void => {
  useLayoutEffect(() => {
    if (!isOpen) return;
    overlayCount++;
    isComposerCovered.set(true);
    return () => {
      overlayCount--;
      isComposerCovered.set(overlayCount > 0);
    };
  }, [isOpen]);
};
