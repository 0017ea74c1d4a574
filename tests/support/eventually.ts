/** Waits until a check passes, by a clock that nobody sets; its own complaint is the failure when it never does. */
export const eventually = async <T>(check: () => Promise<T> | T, withinMs = 8_000): Promise<T> => {
  const deadline = performance.now() + withinMs;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() > deadline) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
};
