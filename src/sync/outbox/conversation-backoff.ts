import type { ConversationId } from "#contract/ids.ts";
import { retryDelayMs } from "#lib/http/backoff.ts";
import type { Platform } from "#sync/platform/platform.ts";

type ConversationDelay = { attempts: number; cancel: (() => void) | undefined };

/** Back-off of each conversation after temporary refusals and rate limits. */
export class ConversationBackoff {
  readonly #platform: Pick<Platform, "startTimer" | "random">;
  readonly #onReady: () => void;
  readonly #delays = new Map<ConversationId, ConversationDelay>();
  readonly #limited = new Set<ConversationId>();

  /** `onReady` is called when a conversation may be tried again. */
  constructor(platform: Pick<Platform, "startTimer" | "random">, onReady: () => void) {
    this.#platform = platform;
    this.#onReady = onReady;
  }

  isWaiting(conversation: ConversationId): boolean {
    return this.#delays.get(conversation)?.cancel !== undefined;
  }

  /** Whether the server has rate-limited this conversation. Its messages are sent one by one, to waste no data. */
  isLimited(conversation: ConversationId): boolean {
    return this.#limited.has(conversation);
  }

  /** Applies a rate limit of the server: no messages of this conversation for `retryAfterMs`. */
  limit(conversation: ConversationId, retryAfterMs: number | undefined): void {
    this.#limited.add(conversation);
    this.delay(conversation, retryAfterMs);
  }

  /**
   * Delays a conversation for `retryAfterMs`, or with exponential back-off. Messages that were refused together count as
   * one attempt.
   */
  delay(conversation: ConversationId, retryAfterMs?: number): void {
    const before = this.#delays.get(conversation);
    if (before?.cancel && retryAfterMs === undefined) return;
    before?.cancel?.();
    const attempts = (before?.attempts ?? 0) + 1;
    const delay: ConversationDelay = { attempts, cancel: undefined };
    delay.cancel = this.#platform.startTimer(retryAfterMs ?? retryDelayMs(attempts, this.#platform.random), () => {
      delay.cancel = undefined;
      this.#onReady();
    });
    this.#delays.set(conversation, delay);
  }

  /** Resets the back-off after a stored message, so that the next refusal starts with a short delay. */
  reset(conversation: ConversationId): void {
    if (!this.isWaiting(conversation)) this.#delays.delete(conversation);
  }

  /** Ends the back-off of all conversations because the server became reachable. Rate limits stay. */
  retryNow(): void {
    for (const [conversation, { cancel }] of this.#delays) {
      if (this.#limited.has(conversation)) continue;
      cancel?.();
      this.#delays.delete(conversation);
    }
  }

  stop(): void {
    for (const { cancel } of this.#delays.values()) cancel?.();
  }
}
