import { dayMs } from "#contract/limits/durations.ts";

const usedMinMs = 2 * dayMs;
export const sentMessagesMin = 10;
const offerIntervalMs = 90 * dayMs;

/** Times of this device's clock, epoch milliseconds. */
export type InstallHistory = { firstUsedAt: number; answeredAt?: number | undefined };

/**
 * Whether the person is asked to install the app: from the third day of use or the tenth sent message on, and not
 * within 90 days of an answer.
 */
export const shouldOfferInstall = (
  { firstUsedAt, answeredAt }: InstallHistory,
  { sentMessages, now }: { sentMessages: number; now: number },
): boolean => {
  // A time in the future was written before the clock was set back: the person was asked, nobody knows when.
  if (answeredAt !== undefined && now - answeredAt < offerIntervalMs) return false;
  return sentMessages >= sentMessagesMin || now - firstUsedAt >= usedMinMs;
};
