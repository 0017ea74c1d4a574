import type { CallSyncPort } from "#calls/sync-port.ts";
import { retryDelayMs } from "#lib/http/backoff.ts";
import { asSyncError, isRetryableFailure, SyncError } from "#sync/platform/sync-error.ts";

const requestTimeoutMs = 6_000; // after this time a request is repeated; all of these requests are idempotent
const retryBackoff = { baseMs: 500, maxMs: 4_000 };

type RequestPort = Pick<CallSyncPort, "platform" | "checkConnection" | "feed">;

/** Calls back when the connection to the server is restored: earlier requests may have been lost with the old one. */
const onReconnect = ({ feed }: RequestPort, run: () => void): (() => void) =>
  feed.subscribe(({ event_type }) => {
    if (event_type === "standing") run();
  });

/** Sends one request and gives up after `requestTimeoutMs`. Rejects with a SyncError. */
export const requestOnce = <T>(sync: RequestPort, send: () => Promise<T>): Promise<T> =>
  new Promise<T>((resolve, reject) => {
    const giveUp = () => {
      cleanUp();
      reject(new SyncError("offline"));
    };
    const cancel = sync.platform.startTimer(requestTimeoutMs, () => {
      giveUp();
      sync.checkConnection(); // the connection may be dead
    });
    const unsubscribe = onReconnect(sync, giveUp);
    const cleanUp = () => {
      cancel();
      unsubscribe();
    };
    send().then(
      (answer) => {
        cleanUp();
        resolve(answer);
      },
      (error: unknown) => {
        cleanUp();
        reject(asSyncError(error));
      },
    );
  });

/** Repeats a request until the server decides or `shouldRetry` returns false. Rejects with a SyncError. */
export const requestWithRetry = async <T>(
  sync: RequestPort,
  send: () => Promise<T>,
  shouldRetry: () => boolean,
): Promise<T> => {
  let isReconnected = false;
  let wake = () => {};
  const unsubscribe = onReconnect(sync, () => {
    isReconnected = true;
    wake();
  });
  try {
    for (let attempt = 0; ; attempt++) {
      isReconnected = false;
      const outcome = await requestOnce(sync, send).then(
        (answer) => ({ answer }),
        (error: unknown) => asSyncError(error),
      );
      if ("answer" in outcome) return outcome.answer;
      if (!isRetryableFailure(outcome) || !shouldRetry()) throw outcome;
      const delayMs = outcome.retryAfterMs ?? retryDelayMs(attempt, () => 1, retryBackoff);
      await new Promise<void>((resolve) => {
        if (outcome.retryAfterMs === undefined) wake = resolve;
        sync.platform.startTimer(isReconnected ? 0 : delayMs, resolve);
      });
      if (!shouldRetry()) throw outcome;
    }
  } finally {
    unsubscribe();
  }
};
