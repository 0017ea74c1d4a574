const attemptsMax = 3;
const firstWaitMs = 100;

/** Exponential backoff with full jitter: a random delay below a bound that doubles with each failure. */
export const jitterMs = (failures: number, baseMs: number, maxMs: number): number =>
  Math.random() * Math.min(maxMs, baseMs * 2 ** Math.min(failures, 30));

/**
 * Whether a failed call may be repeated at once: the platform reports a broken connection and no overload of the object
 * (Cloudflare, durable-objects/best-practices/error-handling).
 */
const isRetryable = (error: unknown): boolean => {
  const { retryable, overloaded } = Object(error) as { retryable?: unknown; overloaded?: unknown };
  return retryable === true && overloaded !== true;
};

/** Calls another object and retries when the connection to it breaks. Only for idempotent calls. */
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
