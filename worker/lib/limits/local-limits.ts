/**
 * Factor by which the limits of frames, commands, messages, searches and young accounts are raised. More than 1 only in
 * a local build configured so, as by `npm start`, tests and benchmarks: few people do in minutes what takes days
 * otherwise.
 */
export const readLimitFactor = (env: object): number => {
  if (!LOCAL_MAILBOX) return 1;
  const { LOCAL_LIMIT_FACTOR: factor } = env as { LOCAL_LIMIT_FACTOR?: string };
  return Math.max(1, Number(factor ?? 1) || 1);
};

/**
 * True only in a local build configured so, for browser tests, which sign up many people: proofs of work and password
 * hashes then cost next to nothing.
 */
export const hasCheapWork = (env: object): boolean =>
  LOCAL_MAILBOX && (env as { LOCAL_CHEAP_WORK?: string }).LOCAL_CHEAP_WORK === "true";
