import { useDeferredValue, useState } from "react";
import { findFirstView } from "#lib/browser/first-view.ts";

/**
 * Whether to render content that is available. Under a first view only in a later render, which React may interrupt:
 * the user reads the first view meanwhile, and its input does not wait for the whole content. Elsewhere at once.
 */
export const useInterruptibleContent = (isAvailable: boolean): boolean => {
  const [isCovered] = useState(() => findFirstView() !== undefined);
  const isDue = useDeferredValue(isAvailable, false);
  return isAvailable && (isDue || !isCovered);
};
