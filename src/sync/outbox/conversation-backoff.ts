import type { ConversationId } from "#contract/ids.ts";
import { retryDelayMs } from "#lib/http/backoff.ts";
import type { Platform } from "#sync/platform/platform.ts";

type ConversationDelay = { attempts: number; cancel: (() => void) | undefined };

/** Conversations whose messages wait after a refusal that will pass, each by itself. */
export class ConversationBackoff {
  readonly #platform: Pick<Platform, "startTimer" | "random">;
  readonly #onReady: () => void;
  readonly #delays = new Map<ConversationId, ConversationDelay>();
  readonly #limited = new Set<ConversationId>();

  /** `go` is called when one of them may be tried again. */
  constructor(platform: Pick<Platform, "startTimer" | "random">, go: () => void) {
    this.#platform = platform;
    this.#onReady = go;
  }

  isWaiting(conversation: ConversationId): boolean {
    return this.#delays.get(conversation)?.cancel !== undefined;
  }

  /** Whether the server has limited this conversation: its messages go one by one, since what is refused was sent in vain. */
  isLimited(conversation: ConversationId): boolean {
    return this.#limited.has(conversation);
  }

  /** The server takes no more from this person in this conversation for so long. */
  limit(conversation: ConversationId, retryAfterMs: number | undefined): void {
    this.#limited.add(conversation);
    this.delay(conversation, retryAfterMs);
  }

  /** For as long as the server said, or with back-off. Of several that were refused together one wait is made. */
  delay(conversation: ConversationId, retryAfterMs?: number): void {
    const before = this.#delays.get(conversation);
    if (before?.cancel && retryAfterMs === undefined) return;
    before?.cancel?.();
    const attempts = (before?.attempts ?? 0) + 1;
    const wait: ConversationDelay = { attempts, cancel: undefined };
    wait.cancel = this.#platform.startTimer(retryAfterMs ?? retryDelayMs(attempts, this.#platform.random), () => {
      wait.cancel = undefined;
      this.#onReady();
    });
    this.#delays.set(conversation, wait);
  }

  /** A message was taken: the next refusal begins with a short wait again. */
  reset(conversation: ConversationId): void {
    if (!this.isWaiting(conversation)) this.#delays.delete(conversation);
  }

  /** The link is there: what was put off is tried now. What the server has limited goes on waiting. */
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
