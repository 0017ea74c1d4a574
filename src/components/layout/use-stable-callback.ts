import { useCallback, useLayoutEffect, useRef } from "react";

/**
 * Function that is the same at each render and calls the callback of the newest one, so that passing it on renders
 * nothing again. Only for event handlers; effects use `useEffectEvent`.
 */
export const useStableCallback = <Args extends unknown[], Result>(
  callback: (...args: Args) => Result,
): ((...args: Args) => Result) => {
  const latest = useRef(callback);
  useLayoutEffect(() => {
    latest.current = callback;
  });
  return useCallback((...args: Args) => latest.current(...args), []);
};
