import type { ConversationId } from "#contract/ids.ts";
import { retryDelayMs } from "#lib/http/backoff.ts";
import type { Platform } from "#sync/platform/platform.ts";

type Wait = { attempts: number; cancel: (() => void) | undefined };

/** Conversations whose messages wait after a refusal that will pass, each by itself. */
export class ConversationWaits {
  readonly #platform: Pick<Platform, "after" | "random">;
  readonly #go: () => void;
  readonly #waits = new Map<ConversationId, Wait>();
  readonly #limited = new Set<ConversationId>();

  /** `go` is called when one of them may be tried again. */
  constructor(platform: Pick<Platform, "after" | "random">, go: () => void) {
    this.#platform = platform;
    this.#go = go;
  }

  has(conversation: ConversationId): boolean {
    return this.#waits.get(conversation)?.cancel !== undefined;
  }

  /** Whether the server has limited this conversation: its messages go one by one, since what is refused was sent in vain. */
  isLimited(conversation: ConversationId): boolean {
    return this.#limited.has(conversation);
  }

  /** The server takes no more from this person in this conversation for so long. */
  limit(conversation: ConversationId, retryAfterMs: number | undefined): void {
    this.#limited.add(conversation);
    this.start(conversation, retryAfterMs);
  }

  /** For as long as the server said, or with back-off. Of several that were refused together one wait is made. */
  start(conversation: ConversationId, retryAfterMs?: number): void {
    const before = this.#waits.get(conversation);
    if (before?.cancel && retryAfterMs === undefined) return;
    before?.cancel?.();
    const attempts = (before?.attempts ?? 0) + 1;
    const wait: Wait = { attempts, cancel: undefined };
    wait.cancel = this.#platform.after(retryAfterMs ?? retryDelayMs(attempts, this.#platform.random), () => {
      wait.cancel = undefined;
      this.#go();
    });
    this.#waits.set(conversation, wait);
  }

  /** A message was taken: the next refusal begins with a short wait again. */
  succeeded(conversation: ConversationId): void {
    if (!this.has(conversation)) this.#waits.delete(conversation);
  }

  /** The link is there: what was put off is tried now. What the server has limited goes on waiting. */
  clear(): void {
    for (const [conversation, { cancel }] of this.#waits) {
      if (this.#limited.has(conversation)) continue;
      cancel?.();
      this.#waits.delete(conversation);
    }
  }

  stop(): void {
    for (const { cancel } of this.#waits.values()) cancel?.();
  }
}
