import { useLayoutEffect } from "react";
import { Observable } from "#lib/browser/observable.ts";

let covers = 0;

/** Whether something lies over the composer of the open chat: nobody sees there what is being recorded. */
export const isComposerCovered = new Observable(false);

/** As long as `is`, this lies over the composer. */
export const useCover = (is: boolean): void => {
  useLayoutEffect(() => {
    if (!is) return;
    covers++;
    isComposerCovered.set(true);
    return () => {
      covers--;
      isComposerCovered.set(covers > 0);
    };
  }, [is]);
};
