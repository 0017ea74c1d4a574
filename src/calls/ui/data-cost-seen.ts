import { type CallKind, CallKind as Kinds } from "#contract/calls/call.ts";

/** Kinds of calls of which this device was told what a minute takes. It is told once, before the first of each. */
const key = "call-price";

const readSeenKinds = (): string[] => localStorage.getItem(key)?.split(" ") ?? [];

/** Where nothing can be kept it would be told every time, so it is not told at all. */
export const isDataCostSeen = (kind: CallKind): boolean => {
  try {
    return readSeenKinds().includes(kind);
  } catch {
    return true;
  }
};

/** Whoever was told what a video takes was told of the voice too. */
export const markDataCostSeen = (kind: CallKind): void => {
  try {
    localStorage.setItem(key, (kind === "video" ? Kinds.options : [...new Set([...readSeenKinds(), kind])]).join(" "));
  } catch {
    // It is told again the next time.
  }
};
