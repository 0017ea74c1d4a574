import { dayMs } from "#contract/limits/durations.ts";
import type { PushState } from "./push-state.ts";

/** Number of times that this device asked whether to turn on notifications, and the last of them. */
export type AskHistory = { count: number; lastAt: number };

const askMax = 3;
const askIntervalMs = 14 * dayMs;

/**
 * Whether the person is asked to turn on notifications: only after a message or a call (`mayAsk`), never again within
 * 14 days, and three times at most. Somebody who cannot turn them on here is not asked.
 */
export const shouldAsk = (
  state: PushState,
  { count, lastAt }: AskHistory,
  { mayAsk, now }: { mayAsk: boolean; now: number },
): boolean => {
  if (!mayAsk || (state !== "default" && state !== "off") || count >= askMax) return false;
  // A time in the future was written before the clock was set back.
  return count === 0 || now - lastAt >= askIntervalMs || lastAt > now;
};

/** History after the person answered "later" or turned notifications off: `isFinal` asks no more. */
export const recordAnswer = ({ count }: AskHistory, isFinal: boolean, now: number): AskHistory => ({
  count: isFinal ? askMax : count + 1,
  lastAt: now,
});
