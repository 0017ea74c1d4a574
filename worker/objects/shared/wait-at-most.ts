/** Waits for work with a time limit. The timer is aborted afterwards, since a pending timer keeps the object awake. */
export const waitAtMost = async (ms: number, work: Promise<void>): Promise<void> => {
  const isDone = new AbortController();
  const wait = scheduler.wait(ms, { signal: isDone.signal }).catch(() => {});
  await Promise.race([work, wait]);
  isDone.abort();
};
