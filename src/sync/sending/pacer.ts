import type { ConversationId } from "#contract/ids.ts";
import type { Platform } from "#sync/platform/platform.ts";
import type { OutboxRow } from "#sync/unsent/outbox-row.ts";

const pacedMs = 10_000; // after the last refusal: the limit refills slowly, and a message beyond it wastes data

/** Send rate after the server's rate limit: no messages until the named time, then one at a time for `pacedMs`. */
export class Pacer {
  readonly #platform: Pick<Platform, "startTimer">;
  readonly #onReady: () => void;
  #state: "off" | "waiting" | "paced" = "off";
  #round = 0;
  /** Round in which each conversation was last picked. */
  readonly #lastRounds = new Map<ConversationId, number>();
  #cancel = () => {};

  /** `onReady` is called when messages may be sent again. */
  constructor(platform: Pick<Platform, "startTimer">, onReady: () => void) {
    this.#platform = platform;
    this.#onReady = onReady;
  }

  /** Whether no message may be sent now. */
  get isWaiting(): boolean {
    return this.#state === "waiting";
  }

  /** Whether messages are sent one at a time, or not at all. */
  get isActive(): boolean {
    return this.#state !== "off";
  }

  limit(retryAfterMs: number): void {
    this.#cancel();
    this.#state = "waiting";
    this.#cancel = this.#platform.startTimer(retryAfterMs, () => {
      this.#state = "paced";
      this.#cancel = this.#platform.startTimer(pacedMs, () => {
        this.#state = "off";
        this.#onReady();
      });
      this.#onReady();
    });
  }

  /**
   * Picks the next message from the oldest of each conversation. Conversations take turns, so that one with hundreds of
   * unsent messages does not delay the others. The messages of a multicast are picked together.
   */
  pickNext(oldest: readonly OutboxRow[]): OutboxRow[] {
    const getRound = ({ conversation }: OutboxRow) => this.#lastRounds.get(conversation) ?? 0;
    const [first] = [...oldest].sort((a, b) => getRound(a) - getRound(b) || a.order - b.order);
    const picked = oldest.filter(
      (row) => row === first || (row.multicastId !== undefined && row.multicastId === first?.multicastId),
    );
    this.#round++;
    for (const { conversation } of picked) this.#lastRounds.set(conversation, this.#round);
    return picked;
  }

  stop(): void {
    this.#cancel();
  }
}
