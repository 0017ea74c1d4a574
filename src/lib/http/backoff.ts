import { retryBaseMs, retryMaxMs } from "#contract/limits/delivery.ts";

/**
 * Retry delay with full jitter: random between zero and a bound that doubles with each attempt, so that devices that
 * lost the same server do not return at the same moment.
 */
export const retryDelayMs = (
  attempt: number,
  random: () => number = Math.random,
  { baseMs = retryBaseMs, maxMs = retryMaxMs }: { baseMs?: number; maxMs?: number } = {},
): number => Math.round(random() * Math.min(maxMs, baseMs * 2 ** Math.min(attempt, 30)));
