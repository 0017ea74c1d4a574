/** How many tokens there were, and when. */
export type BucketLevel = { tokens: number; at: number };

/** Flood protection that lives and dies with the object, unless its filling is kept: `burst` at once, then `perSecond`. */
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

  /** True when there were so many tokens to take. */
  take(now = Date.now(), tokens = 1): boolean {
    this.#refill(now);
    if (this.#tokens < tokens) return false;
    this.#tokens -= tokens;
    return true;
  }

  /** Takes so many tokens whether they are there or not: what is missing is owed, and `take` refuses until it came in. */
  spend(tokens: number, now = Date.now()): void {
    this.#refill(now);
    this.#tokens -= tokens;
  }

  /** Milliseconds until there are so many. */
  waitMs(now = Date.now(), tokens = 1): number {
    this.#refill(now);
    return this.#tokens >= tokens ? 0 : Math.ceil(((tokens - this.#tokens) / this.#perSecond) * 1_000);
  }

  #refill(now: number): void {
    this.#tokens = Math.min(this.#burst, this.#tokens + (Math.max(0, now - this.#at) / 1_000) * this.#perSecond);
    this.#at = now;
  }
}
