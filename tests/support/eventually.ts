const pauseMs = 10;
/** Longest time that one check may use of the limit, however long the machine did something else. */
const lookMs = 50;

/**
 * Waits until a check passes and counts only time in which it could run. Throws the last error of the check when time
 * is over.
 */
export const eventually = async <T>(check: () => Promise<T> | T, withinMs = 8_000): Promise<T> => {
  for (let waitedMs = 0; ; ) {
    const began = performance.now();
    try {
      return await check();
    } catch (error) {
      if (waitedMs > withinMs) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    waitedMs += Math.min(performance.now() - began, lookMs);
  }
};
