const pauseMs = 10;
/** A look counts for no more of the time, however long the machine did something else meanwhile. */
const lookMs = 50;

/** Waits until a check passes, for so long a time in which it is looked at; its own complaint is the failure when it never does. */
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
