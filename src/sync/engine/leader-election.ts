import type { Platform } from "#sync/platform/platform.ts";

export type LeaderElection = {
  /** Takes the lock from a tab that holds it and does not respond. */
  steal(): void;
  stop(): void;
};

/**
 * Takes part in the election of the leader tab of a person. The leader is the holder of a Web Lock, which the browser
 * passes on when a tab closes or crashes. Without Web Locks every tab leads; the server still stores each message once.
 */
export const joinLeaderElection = (
  locks: Platform["locks"],
  name: string,
  events: { onElected(): void; onDeposed(): void },
): LeaderElection => {
  let isStopped = false;
  let waiting = new AbortController();
  let release = () => {};

  const hold = () => {
    if (isStopped) return Promise.resolve();
    events.onElected();
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
      // Aborted by `stop` or `steal`, or the lock was stolen by another tab.
    }
    if (!isHeld || isStopped) return;
    events.onDeposed();
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
