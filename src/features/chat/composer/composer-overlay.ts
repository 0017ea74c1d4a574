import { useLayoutEffect } from "react";
import { Observable } from "#lib/browser/observable.ts";

let overlayCount = 0;

/** Whether something lies over the composer of the open chat: nobody sees there what is being recorded. */
export const isComposerCovered = new Observable(false);

/** As long as `is`, this lies over the composer. */
export const useComposerOverlay = (is: boolean): void => {
  useLayoutEffect(() => {
    if (!is) return;
    overlayCount++;
    isComposerCovered.set(true);
    return () => {
      overlayCount--;
      isComposerCovered.set(overlayCount > 0);
    };
  }, [is]);
};
