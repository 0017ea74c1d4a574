import type { Uuid } from "#contract/ids.ts";
import {
  callDeedBurst,
  callDeedsPerSecond,
  dialBurst,
  dialsPerSecond,
  ringSignalBytes,
  ringSignalBytesPerSecond,
  signalBurst,
  signalsPerSecond,
  talkSignalBytes,
  talkSignalBytesPerSecond,
} from "#contract/limits.ts";
import type { Refusal } from "#contract/wire/commands.ts";
import { type Filled, TokenBucket } from "#worker/objects/shared/token-bucket.ts";

const limited = (bucket: TokenBucket, tokens = 1, now = Date.now()): Refusal | undefined =>
  bucket.take(now, tokens) ? undefined : { error: "rate_limited", retryAfterMs: bucket.waitMs(now, tokens) };

const bytesOf = (isAnswered: boolean): TokenBucket =>
  isAnswered
    ? new TokenBucket(talkSignalBytes, talkSignalBytesPerSecond)
    : new TokenBucket(ringSignalBytes, ringSignalBytesPerSecond);

/**
 * How often one person may ask something about calls. Dialling wears off in minutes, and the object is put to sleep in
 * seconds: what is left of it is written. The rest is only for as long as the object lives.
 */
export class CallLimits {
  readonly #sql: SqlStorage;
  readonly #deeds = new TokenBucket(callDeedBurst, callDeedsPerSecond);
  readonly #signals = new TokenBucket(signalBurst, signalsPerSecond);
  /** What signals of each call took, in bytes. */
  readonly #carried = new Map<Uuid, { isAnswered: boolean; bytes: TokenBucket }>();
  readonly #isOpen: (call: Uuid) => boolean;
  #dials: TokenBucket | undefined;

  constructor(sql: SqlStorage, isOpen: (call: Uuid) => boolean) {
    this.#sql = sql;
    this.#isOpen = isOpen;
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

  /** `bytes`: what each device of the other person gets. */
  signal(call: Uuid, isAnswered: boolean, bytes: number): Refusal | undefined {
    return limited(this.#signals) ?? limited(this.#bytesOf(call, isAnswered), bytes);
  }

  #bytesOf(call: Uuid, isAnswered: boolean): TokenBucket {
    const known = this.#carried.get(call);
    if (known?.isAnswered === isAnswered) return known.bytes;
    for (const other of this.#carried.keys()) if (!this.#isOpen(other)) this.#carried.delete(other);
    const carried = { isAnswered, bytes: bytesOf(isAnswered) };
    this.#carried.set(call, carried);
    return carried.bytes;
  }
}
