import { type CallKind, CallKind as Kinds } from "#contract/calls/call.ts";

/** Kinds of calls of which this device was told what a minute takes. It is told once, before the first of each. */
const key = "call-price";

const toldOf = (): string[] => localStorage.getItem(key)?.split(" ") ?? [];

/** Where nothing can be kept it would be told every time, so it is not told at all. */
export const isPriceTold = (kind: CallKind): boolean => {
  try {
    return toldOf().includes(kind);
  } catch {
    return true;
  }
};

/** Whoever was told what a video takes was told of the voice too. */
export const rememberPrice = (kind: CallKind): void => {
  try {
    localStorage.setItem(key, (kind === "video" ? Kinds.options : [...new Set([...toldOf(), kind])]).join(" "));
  } catch {
    // It is told again the next time.
  }
};
