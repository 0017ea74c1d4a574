import { readLimitFactor } from "./local-limits.ts";
import { MemoryBuckets, memoryPolicies } from "./memory-limits.ts";

/**
 * Password hashing of this isolate. A hash occupies it for a sixth of a second, in which it serves nobody, so hashes are
 * computed one at a time with pauses in which everybody else is served.
 */
const buckets = new MemoryBuckets();

const waitFor = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** So many passwords wait for their hash in this isolate that another would wait too long. */
export class HashingOverloadError extends Error {
  readonly retryAfterMs: number;

  constructor(retryAfterMs: number) {
    super("too many passwords wait for their hash");
    this.retryAfterMs = retryAfterMs;
  }
}

/** Times at which an attempt may compute its hashes. */
export class HashTurns {
  readonly #dueTimes: number[];

  constructor(dueTimes: number[]) {
    this.#dueTimes = dueTimes;
  }

  /** Waits for the next turn. */
  async waitForNext(): Promise<void> {
    const due = this.#dueTimes.shift();
    if (due === undefined) throw new Error("a hash without a turn");
    const waitMs = due - Date.now();
    if (waitMs > 0) await waitFor(waitMs);
  }
}

/**
 * Throws `HashingOverloadError` if a hash would have to wait too long. Called before anything is read or written, so that
 * the request costs nothing and can be repeated as it is.
 */
export const requireHashTurn = (env: object): void => {
  if (readLimitFactor(env) > 1) return;
  const trial = buckets.takeToken("password_hashes", "", { isTrial: true });
  if (!trial.ok) throw new HashingOverloadError(trial.retryAfterMs);
};

/** Reserves the turns of this many hashes. Throws `HashingOverloadError` if the last one would have to wait too long. */
export const reserveHashTurns = (env: object, hashes: number): HashTurns => {
  const now = Date.now();
  if (readLimitFactor(env) > 1) return new HashTurns(Array.from({ length: hashes }, () => now));
  const taken = buckets.takeToken("password_hashes", "", { tokens: hashes, now });
  if (!taken.ok) throw new HashingOverloadError(taken.retryAfterMs);
  const last = now + taken.waitMs;
  const { everyMs } = memoryPolicies.password_hashes;
  return new HashTurns(Array.from({ length: hashes }, (_, n) => last - (hashes - 1 - n) * everyMs));
};

/**
 * Waits until the isolate may compute a hash for a password without a proof of work. Returns false at once if that would
 * take too long.
 */
export const waitForUnprovenHash = async (): Promise<boolean> => {
  const taken = buckets.takeToken("unproven_hashes", "");
  if (taken.ok && taken.waitMs > 0) await waitFor(taken.waitMs);
  return taken.ok;
};

/** Counts further hashes of an attempt without a proof of work. Returns false if later attempts would wait too long. */
export const takeUnprovenHashes = (hashes: number): boolean =>
  hashes === 0 || buckets.takeToken("unproven_hashes", "", { tokens: hashes }).ok;
