/** Number of tokens at a time. */
export type BucketLevel = { tokens: number; at: number };

/** In-memory token bucket: `burst` tokens at once, then `perSecond`. */
export class TokenBucket {
  readonly #burst: number;
  readonly #perSecond: number;
  #tokens: number;
  #at: number;

  constructor(burst: number, perSecond: number, { tokens, at }: BucketLevel = { tokens: burst, at: Date.now() }) {
    this.#burst = burst;
    this.#perSecond = perSecond;
    this.#tokens = tokens;
    this.#at = at;
  }

  get level(): BucketLevel {
    return { tokens: this.#tokens, at: this.#at };
  }

  /** Takes tokens. False if there are not enough. */
  take(now = Date.now(), tokens = 1): boolean {
    this.#refill(now);
    if (this.#tokens < tokens) return false;
    this.#tokens -= tokens;
    return true;
  }

  /** Takes tokens even if there are not enough. The level becomes negative and `take` fails until it has recovered. */
  spend(tokens: number, now = Date.now()): void {
    this.#refill(now);
    this.#tokens -= tokens;
  }

  /** Milliseconds until this many tokens are available. */
  waitMs(now = Date.now(), tokens = 1): number {
    this.#refill(now);
    return this.#tokens >= tokens ? 0 : Math.ceil(((tokens - this.#tokens) / this.#perSecond) * 1_000);
  }

  #refill(now: number): void {
    this.#tokens = Math.min(this.#burst, this.#tokens + (Math.max(0, now - this.#at) / 1_000) * this.#perSecond);
    this.#at = now;
  }
}
