import type { CallLink } from "#calls/link.ts";
import { asSyncError, isWorthRetry, SyncError } from "#sync/platform/sync-error.ts";

const answerMs = 6_000; // a question that waits longer is asked once more: whatever it asks for may be asked twice
const pauseMs = 500;
const pauseMaxMs = 4_000;

type Asking = Pick<CallLink, "platform" | "look" | "news">;

/** Calls back when the way to the server is there again: what was asked before may have been lost with the old one. */
const whenBack = ({ news }: Asking, run: () => void): (() => void) =>
  news.subscribe(({ event_type }) => {
    if (event_type === "standing") run();
  });

/** One question, which is given up after a while; rejects with a SyncError. */
export const askOnce = <T>(link: Asking, ask: () => Promise<T>): Promise<T> =>
  new Promise<T>((resolve, reject) => {
    const giveUp = () => {
      end();
      reject(new SyncError("offline"));
    };
    const cancel = link.platform.after(answerMs, () => {
      giveUp();
      link.look(); // what it went over may be dead
    });
    const unsubscribe = whenBack(link, giveUp);
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
export const insist = async <T>(link: Asking, ask: () => Promise<T>, isWanted: () => boolean): Promise<T> => {
  let isBack = false;
  let wake = () => {};
  const unsubscribe = whenBack(link, () => {
    isBack = true;
    wake();
  });
  try {
    for (let attempt = 0; ; attempt++) {
      isBack = false;
      const failure = await askOnce(link, ask).then(
        (answer) => ({ answer }),
        (error: unknown) => asSyncError(error),
      );
      if ("answer" in failure) return failure.answer;
      if (!isWorthRetry(failure) || !isWanted()) throw failure;
      const pause = failure.retryAfterMs ?? Math.min(pauseMs * 2 ** attempt, pauseMaxMs);
      await new Promise<void>((resolve) => {
        if (failure.retryAfterMs === undefined) wake = resolve;
        link.platform.after(isBack ? 0 : pause, resolve);
      });
      if (!isWanted()) throw failure;
    }
  } finally {
    unsubscribe();
  }
};
