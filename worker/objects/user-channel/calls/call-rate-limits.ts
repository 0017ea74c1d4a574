import type { Uuid } from "#contract/ids.ts";
import {
  callCommandBurst,
  callCommandsPerSecond,
  dialBurst,
  dialsPerSecond,
  ringSignalBytes,
  ringSignalBytesPerSecond,
  signalBurst,
  signalsPerSecond,
  talkSignalBytes,
  talkSignalBytesPerSecond,
} from "#contract/limits/calls.ts";
import type { Refusal } from "#contract/wire/commands.ts";
import { type BucketLevel, TokenBucket } from "#worker/objects/shared/token-bucket.ts";

const takeTokensOrRefuse = (bucket: TokenBucket, tokens = 1, now = Date.now()): Refusal | undefined =>
  bucket.take(now, tokens) ? undefined : { error: "rate_limited", retryAfterMs: bucket.waitMs(now, tokens) };

const createByteBucket = (isAnswered: boolean): TokenBucket =>
  isAnswered
    ? new TokenBucket(talkSignalBytes, talkSignalBytesPerSecond)
    : new TokenBucket(ringSignalBytes, ringSignalBytesPerSecond);

/**
 * Rate limits of one person's call commands. The dial limit recovers over minutes and is persisted, since the object
 * hibernates after seconds. The others live in memory.
 */
export class CallRateLimits {
  readonly #sql: SqlStorage;
  readonly #commands = new TokenBucket(callCommandBurst, callCommandsPerSecond);
  readonly #signals = new TokenBucket(signalBurst, signalsPerSecond);
  /** Byte budgets for the signals of each call. */
  readonly #signalBytes = new Map<Uuid, { isAnswered: boolean; bytes: TokenBucket }>();
  readonly #isOpen: (call: Uuid) => boolean;
  #dials: TokenBucket | undefined;

  constructor(sql: SqlStorage, isOpen: (call: Uuid) => boolean) {
    this.#sql = sql;
    this.#isOpen = isOpen;
  }

  takeDial(): Refusal | undefined {
    const [stored] = this.#dials ? [] : this.#sql.exec<BucketLevel>("SELECT tokens, at FROM dials").toArray();
    this.#dials ??= new TokenBucket(dialBurst, dialsPerSecond, stored);
    const refusal = takeTokensOrRefuse(this.#dials);
    if (refusal) return refusal;
    const { tokens, at } = this.#dials.level;
    this.#sql.exec("INSERT OR REPLACE INTO dials (id, tokens, at) VALUES (1, ?, ?)", tokens, at);
    return undefined;
  }

  takeCommand(): Refusal | undefined {
    return takeTokensOrRefuse(this.#commands);
  }

  /** `bytes`: size of the signal for each device of the peer. */
  takeSignal(call: Uuid, isAnswered: boolean, bytes: number): Refusal | undefined {
    return takeTokensOrRefuse(this.#signals) ?? takeTokensOrRefuse(this.#byteBucketOf(call, isAnswered), bytes);
  }

  #byteBucketOf(call: Uuid, isAnswered: boolean): TokenBucket {
    const existing = this.#signalBytes.get(call);
    if (existing?.isAnswered === isAnswered) return existing.bytes;
    for (const other of this.#signalBytes.keys()) if (!this.#isOpen(other)) this.#signalBytes.delete(other);
    const budget = { isAnswered, bytes: createByteBucket(isAnswered) };
    this.#signalBytes.set(call, budget);
    return budget.bytes;
  }
}
