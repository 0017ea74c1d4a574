import type { KeyValues } from "./key-values.ts";
import { type BucketLevel, TokenBucket } from "./token-bucket.ts";

type StoredBucketRates = {
  burst: number;
  perSecond: number;
  /** Tokens that may be taken before the filling is written again. */
  unwrittenMax: number;
};

/**
 * A token bucket that outlives its object's sleep. Its filling is written once more than a few tokens were taken since it
 * was full or written: whoever takes few costs no row, and a sleep, which begins after seconds without work, gives back
 * no more than time would have in about as many seconds.
 */
export class StoredBucket {
  readonly #meta: KeyValues;
  readonly #key: string;
  readonly #rates: StoredBucketRates;
  readonly #bucket: TokenBucket;
  #unwritten = 0;

  constructor(meta: KeyValues, key: string, rates: StoredBucketRates) {
    this.#meta = meta;
    this.#key = key;
    this.#rates = rates;
    const stored = meta.get(key);
    const filled = stored === undefined ? undefined : (JSON.parse(stored) as BucketLevel);
    this.#bucket = new TokenBucket(rates.burst, rates.perSecond, filled);
  }

  /** True when there was a token to take. */
  take(now = Date.now()): boolean {
    if (this.#bucket.waitMs(now, this.#rates.burst) === 0) this.#unwritten = 0;
    if (!this.#bucket.take(now)) return false;
    this.#unwritten += 1;
    if (this.#unwritten <= this.#rates.unwrittenMax) return true;
    this.#unwritten = 0;
    this.#meta.set(this.#key, JSON.stringify(this.#bucket.level));
    return true;
  }

  waitMs(tokens = 1): number {
    return this.#bucket.waitMs(Date.now(), tokens);
  }
}
