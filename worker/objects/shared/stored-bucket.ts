import type { KeyValues } from "./key-values.ts";
import { type BucketLevel, TokenBucket } from "./token-bucket.ts";

type StoredBucketRates = {
  burst: number;
  perSecond: number;
  /** Tokens that may be taken before the level is written again. */
  unwrittenMax: number;
};

/**
 * Token bucket that survives hibernation. Its level is written only after more than `unwrittenMax` tokens were taken
 * since it was full or written, so that light use costs no row. A hibernation, which begins after seconds of
 * inactivity, returns no more tokens than time would have.
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

  /** Takes tokens. False if there are not enough. */
  take(tokens = 1, now = Date.now()): boolean {
    if (this.#bucket.waitMs(now, this.#rates.burst) === 0) this.#unwritten = 0;
    if (!this.#bucket.take(now, tokens)) return false;
    this.#unwritten += tokens;
    if (this.#unwritten <= this.#rates.unwrittenMax) return true;
    this.#unwritten = 0;
    this.#meta.set(this.#key, JSON.stringify(this.#bucket.level));
    return true;
  }

  waitMs(tokens = 1): number {
    return this.#bucket.waitMs(Date.now(), tokens);
  }
}
