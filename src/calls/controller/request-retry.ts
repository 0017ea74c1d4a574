import type { CallSyncPort } from "#calls/link.ts";
import { asSyncError, isRetryableFailure, SyncError } from "#sync/platform/sync-error.ts";

const requestTimeoutMs = 6_000; // a question that waits longer is asked once more: whatever it asks for may be asked twice
const firstRetryMs = 500;
const maxRetryMs = 4_000;

type RequestPort = Pick<CallSyncPort, "platform" | "checkConnection" | "feed">;

/** Calls back when the way to the server is there again: what was asked before may have been lost with the old one. */
const onReconnect = ({ feed }: RequestPort, run: () => void): (() => void) =>
  feed.subscribe(({ event_type }) => {
    if (event_type === "standing") run();
  });

/** One question, which is given up after a while; rejects with a SyncError. */
export const requestOnce = <T>(link: RequestPort, ask: () => Promise<T>): Promise<T> =>
  new Promise<T>((resolve, reject) => {
    const giveUp = () => {
      end();
      reject(new SyncError("offline"));
    };
    const cancel = link.platform.startTimer(requestTimeoutMs, () => {
      giveUp();
      link.checkConnection(); // what it went over may be dead
    });
    const unsubscribe = onReconnect(link, giveUp);
    const end = () => {
      cancel();
      unsubscribe();
    };
    ask().then(
      (answer) => {
        end();
        resolve(answer);
      },
      (error: unknown) => {
        end();
        reject(asSyncError(error));
      },
    );
  });

/** Asks until the server has said yes or no, or nobody wants to know any more; rejects with a SyncError. */
export const requestWithRetry = async <T>(
  link: RequestPort,
  ask: () => Promise<T>,
  isWanted: () => boolean,
): Promise<T> => {
  let isBack = false;
  let wake = () => {};
  const unsubscribe = onReconnect(link, () => {
    isBack = true;
    wake();
  });
  try {
    for (let attempt = 0; ; attempt++) {
      isBack = false;
      const failure = await requestOnce(link, ask).then(
        (answer) => ({ answer }),
        (error: unknown) => asSyncError(error),
      );
      if ("answer" in failure) return failure.answer;
      if (!isRetryableFailure(failure) || !isWanted()) throw failure;
      const pause = failure.retryAfterMs ?? Math.min(firstRetryMs * 2 ** attempt, maxRetryMs);
      await new Promise<void>((resolve) => {
        if (failure.retryAfterMs === undefined) wake = resolve;
        link.platform.startTimer(isBack ? 0 : pause, resolve);
      });
      if (!isWanted()) throw failure;
    }
  } finally {
    unsubscribe();
  }
};
