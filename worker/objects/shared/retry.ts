const attemptsMax = 3;
const firstWaitMs = 100;

/** Delay in milliseconds for exponential backoff with full jitter: random, below a bound that doubles per failure. */
export const jitterMs = (failures: number, baseMs: number, maxMs: number): number =>
  Math.random() * Math.min(maxMs, baseMs * 2 ** Math.min(failures, 30));

/**
 * Whether a failed call to a Durable Object may be retried. The platform marks errors as `retryable` if the connection
 * broke, and as `overloaded` if a retry would make things worse (Cloudflare,
 * durable-objects/best-practices/error-handling).
 */
const isRetryable = (error: unknown): boolean => {
  const { retryable, overloaded } = Object(error) as { retryable?: unknown; overloaded?: unknown };
  return retryable === true && overloaded !== true;
};

/** Calls another object, up to `attemptsMax` times if the connection to it breaks. Only for idempotent calls. */
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
