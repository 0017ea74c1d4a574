import { retryBaseMs, retryMaxMs } from "#contract/limits.ts";

/**
 * How long to wait before another try: "full jitter", anywhere between nothing and a bound that doubles, so
 * that many devices that lost the same server do not come back at the same moment.
 */
export const retryDelayMs = (
  attempt: number,
  random: () => number = Math.random,
  { baseMs = retryBaseMs, maxMs = retryMaxMs }: { baseMs?: number; maxMs?: number } = {},
): number => Math.round(random() * Math.min(maxMs, baseMs * 2 ** Math.min(attempt, 30)));
