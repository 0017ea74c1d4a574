import { type CallKind, CallKind as Kinds } from "#contract/calls/call.ts";

/** Call kinds whose data use was shown on this device, each before its first call. */
const key = "call-price";

const readSeenKinds = (): string[] => localStorage.getItem(key)?.split(" ") ?? [];

/** Without storage the dialog would appear every time, so it never does. */
export const isDataCostSeen = (kind: CallKind): boolean => {
  try {
    return readSeenKinds().includes(kind);
  } catch {
    return true;
  }
};

/** The dialog of a video call also shows the data use of audio. */
export const markDataCostSeen = (kind: CallKind): void => {
  try {
    localStorage.setItem(key, (kind === "video" ? Kinds.options : [...new Set([...readSeenKinds(), kind])]).join(" "));
  } catch {
    // The dialog appears again the next time.
  }
};
