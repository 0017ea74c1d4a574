import type { Platform } from "./platform.ts";

/** Result of work on a database. Rejects with a DOMException "TimeoutError" if there is none within `ms`. */
export const limitTime = <T>({ startTimer }: Pick<Platform, "startTimer">, work: Promise<T>, ms: number): Promise<T> =>
  new Promise((resolve, reject) => {
    const cancel = startTimer(ms, () => reject(new DOMException("the database does not answer", "TimeoutError")));
    work.then(resolve, reject).finally(cancel);
  });

/** Whether the error, or one wrapped in it, is a quota error. Dexie wraps browser errors, sometimes twice. */
export const isQuotaError = (error: unknown): boolean => {
  for (let cause: unknown = error; typeof cause === "object" && cause !== null; ) {
    if ("name" in cause && cause.name === "QuotaExceededError") return true;
    cause = "inner" in cause ? cause.inner : undefined;
  }
  return false;
};
