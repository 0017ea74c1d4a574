import { runNextTimer, waitForQuiescence } from "./device-time.ts";

const patienceMs = 3_600_000;

/**
 * Waits until a check passes. The check runs each time nothing is left to do at the present virtual time, and the clock
 * advances only when it fails. Throws the check's error if it does not pass within an hour of virtual time, or if no
 * timer is left that could change anything.
 */
export const eventually = async <T>(check: () => Promise<T> | T): Promise<T> => {
  const deadline = Date.now() + patienceMs;
  await waitForQuiescence();
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      // Work of other threads may have ended without a timer: the check has the last word.
      const isTimerLeft = await runNextTimer().then(
        () => true,
        () => false,
      );
      if (!isTimerLeft) return await check();
    }
  }
};
