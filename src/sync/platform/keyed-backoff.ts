import { retryDelayMs } from "#lib/http/backoff.ts";
import type { Platform } from "./platform.ts";

type Delay = { attempts: number; cancel: (() => void) | undefined };

/** Back-off of items that fail independently, such as uploads, or the conversations of unsent messages. */
export class KeyedBackoff<Key> {
  readonly #platform: Pick<Platform, "startTimer" | "random">;
  readonly #onReady: () => void;
  readonly #delays = new Map<Key, Delay>();
  readonly #limited = new Set<Key>();

  /** `onReady` is called when an item may be tried again. */
  constructor(platform: Pick<Platform, "startTimer" | "random">, onReady: () => void) {
    this.#platform = platform;
    this.#onReady = onReady;
  }

  isWaiting(key: Key): boolean {
    return this.#delays.get(key)?.cancel !== undefined;
  }

  /** Whether the item failed and made no progress since. */
  hasFailed(key: Key): boolean {
    return this.#delays.has(key);
  }

  /** Whether the server has rate-limited this item. */
  isLimited(key: Key): boolean {
    return this.#limited.has(key);
  }

  /** Applies a rate limit of the server: no attempt for `retryAfterMs`. */
  limit(key: Key, retryAfterMs: number | undefined): void {
    this.#limited.add(key);
    this.delay(key, retryAfterMs);
  }

  /** Delays an item for `retryAfterMs`, or with exponential back-off. Failures during a delay count as one attempt. */
  delay(key: Key, retryAfterMs?: number): void {
    const before = this.#delays.get(key);
    if (before?.cancel && retryAfterMs === undefined) return;
    before?.cancel?.();
    const attempts = (before?.attempts ?? 0) + 1;
    const delay: Delay = { attempts, cancel: undefined };
    delay.cancel = this.#platform.startTimer(retryAfterMs ?? retryDelayMs(attempts, this.#platform.random), () => {
      delay.cancel = undefined;
      this.#onReady();
    });
    this.#delays.set(key, delay);
  }

  /** Resets the back-off after progress, so that the next failure starts with a short delay. */
  reset(key: Key): void {
    if (!this.isWaiting(key)) this.#delays.delete(key);
  }

  /** Ends the back-off of all items because the server became reachable. Rate limits stay. */
  retryNow(): void {
    for (const [key, delay] of this.#delays) {
      if (this.#limited.has(key)) continue;
      delay.cancel?.();
      Object.assign(delay, { attempts: 0, cancel: undefined });
    }
  }

  stop(): void {
    for (const { cancel } of this.#delays.values()) cancel?.();
  }
}
