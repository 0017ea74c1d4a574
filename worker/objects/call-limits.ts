import type { Refusal } from "../../contract/commands";
import {
  callDeedBurst,
  callDeedsPerSecond,
  dialBurst,
  dialsPerSecond,
  signalBurst,
  signalsPerSecond,
} from "../../contract/limits";
import { type Filled, TokenBucket } from "./token-bucket";

const limited = (bucket: TokenBucket): Refusal | undefined =>
  bucket.take() ? undefined : { error: "rate_limited", retryAfterMs: bucket.waitMs() };

/**
 * How often one person may ask something about calls. Dialling wears off in minutes, and the object is put to sleep in
 * seconds: what is left of it is written. The rest is only for as long as the object lives.
 */
export class CallLimits {
  readonly #sql: SqlStorage;
  readonly #deeds = new TokenBucket(callDeedBurst, callDeedsPerSecond);
  readonly #signals = new TokenBucket(signalBurst, signalsPerSecond);
  #dials: TokenBucket | undefined;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  dial(): Refusal | undefined {
    const [kept] = this.#dials ? [] : this.#sql.exec<Filled>("SELECT tokens, at FROM dials").toArray();
    this.#dials ??= new TokenBucket(dialBurst, dialsPerSecond, kept);
    const refusal = limited(this.#dials);
    if (refusal) return refusal;
    const { tokens, at } = this.#dials.filled;
    this.#sql.exec("INSERT OR REPLACE INTO dials (id, tokens, at) VALUES (1, ?, ?)", tokens, at);
    return undefined;
  }

  deed(): Refusal | undefined {
    return limited(this.#deeds);
  }

  signal(): Refusal | undefined {
    return limited(this.#signals);
  }
}
