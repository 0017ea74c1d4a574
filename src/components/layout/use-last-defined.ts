import { useState } from "react";

/**
 * The value, or while it is undefined the last one that was defined: what a screen shows stays until more is read. A
 * defined value must be the same object at each render until it changes.
 */
export const useLastDefined = <T>(value: T | undefined): T | undefined => {
  const [last, setLast] = useState(value);
  if (value === undefined) return last;
  if (value !== last) setLast(() => value);
  return value;
};
