const attemptsMax = 3;
const firstWaitMs = 100;

/** Full jitter: anything between nothing and a bound that doubles with every failure. */
export const jitterMs = (failures: number, baseMs: number, maxMs: number): number =>
  Math.random() * Math.min(maxMs, baseMs * 2 ** Math.min(failures, 30));

/**
 * Whether a call that failed may be made again at once: the platform says that it was the way there that
 * broke, and not that the object is overloaded (Cloudflare, durable-objects/best-practices/error-handling).
 */
const isRetryable = (error: unknown): boolean => {
  const { retryable, overloaded } = Object(error) as { retryable?: unknown; overloaded?: unknown };
  return retryable === true && overloaded !== true;
};

/** Calls another object, again when the way there broke. Only for calls that may run twice. */
export const withRetry = async <T>(call: () => Promise<T>): Promise<T> => {
  for (let attempt = 1; ; attempt++) {
    try {
      return await call();
    } catch (error) {
      if (attempt === attemptsMax || !isRetryable(error)) throw error;
      await scheduler.wait(jitterMs(attempt - 1, firstWaitMs, firstWaitMs * 8));
    }
  }
};
