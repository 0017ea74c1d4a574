import type { Platform } from "#sync/platform/platform.ts";

export type LeaderElection = {
  /** Takes over from a tab that holds the lock and does not answer. */
  steal(): void;
  stop(): void;
};

/**
 * One tab of a person leads: the holder of a Web Lock, which the browser hands on by itself when a tab dies.
 * Where there are no locks every tab leads; the server takes each message once all the same.
 */
export const joinLeaderElection = (
  locks: Platform["locks"],
  name: string,
  events: { gained(): void; lost(): void },
): LeaderElection => {
  let isStopped = false;
  let waiting = new AbortController();
  let release = () => {};

  const hold = () => {
    if (isStopped) return Promise.resolve();
    events.gained();
    return new Promise<void>((resolve) => {
      release = resolve;
    });
  };

  const queue = async (options: LockOptions): Promise<void> => {
    let isHeld = false;
    try {
      await locks?.request(name, options, () => {
        isHeld = true;
        return hold();
      });
    } catch {
      // Given up by `stop` or `steal`, or taken away by another tab.
    }
    if (!isHeld || isStopped) return;
    events.lost();
    void queue({ signal: waiting.signal });
  };

  if (locks) void queue({ signal: waiting.signal });
  else void hold();

  return {
    steal() {
      if (!locks || isStopped) return;
      waiting.abort();
      waiting = new AbortController();
      void queue({ steal: true });
    },
    stop() {
      isStopped = true;
      waiting.abort();
      release();
    },
  };
};
