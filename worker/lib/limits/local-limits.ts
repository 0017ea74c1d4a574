/**
 * How many times as much as in production the limits of frames, commands and messages let through: more than 1 only in a
 * build for this machine that is told so, for tests, benchmarks and the demo, whose few people do in
 * seconds what takes people days.
 */
export const readLimitFactor = (env: object): number => {
  if (!LOCAL_MAILBOX) return 1;
  const { LOCAL_LIMIT_FACTOR: factor } = env as { LOCAL_LIMIT_FACTOR?: string };
  return Math.max(1, Number(factor ?? 1) || 1);
};
