import { asSyncError, isWorthRetry, SyncError } from "../sync/sync-error";
import type { CallLink } from "./link";

const answerMs = 6_000; // a question that waits longer is asked once more: whatever it asks for may be asked twice
const pauseMs = 500;
const pauseMaxMs = 4_000;

/** One question, which is given up after a while; rejects with a SyncError. */
export const askOnce = <T>({ platform, look }: Pick<CallLink, "platform" | "look">, ask: () => Promise<T>) =>
  new Promise<T>((resolve, reject) => {
    const cancel = platform.after(answerMs, () => {
      look(); // what it went over may be dead
      reject(new SyncError("offline"));
    });
    ask()
      .then(resolve, (error: unknown) => reject(asSyncError(error)))
      .finally(cancel);
  });

/** Asks until the server has said yes or no, or nobody wants to know any more; rejects with a SyncError. */
export const insist = async <T>(
  link: Pick<CallLink, "platform" | "look">,
  ask: () => Promise<T>,
  isWanted: () => boolean,
): Promise<T> => {
  for (let attempt = 0; ; attempt++) {
    try {
      return await askOnce(link, ask);
    } catch (error) {
      const failure = asSyncError(error);
      if (!isWorthRetry(failure) || !isWanted()) throw failure;
      const pause = Math.max(Math.min(pauseMs * 2 ** attempt, pauseMaxMs), failure.retryAfterMs ?? 0);
      await new Promise<void>((resolve) => link.platform.after(pause, resolve));
      if (!isWanted()) throw failure;
    }
  }
};
