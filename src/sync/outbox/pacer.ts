import type { ConversationId } from "#contract/ids.ts";
import type { Platform } from "#sync/platform/platform.ts";
import type { OutboxRow } from "#sync/store/database.ts";

const pacedMs = 10_000; // after the last refusal: the limit refills slowly, and whatever is sent beyond it is sent in vain

/** How fast messages go once the server said that they come too fast: none until the time it named, then one by one. */
export class Pacer {
  readonly #platform: Pick<Platform, "startTimer">;
  readonly #onReady: () => void;
  #state: "off" | "waiting" | "paced" = "off";
  #round = 0;
  /** When each conversation last had its turn. */
  readonly #lastRounds = new Map<ConversationId, number>();
  #cancel = () => {};

  /** `go` is called when the wait is over. */
  constructor(platform: Pick<Platform, "startTimer">, go: () => void) {
    this.#platform = platform;
    this.#onReady = go;
  }

  /** Nothing may go now. */
  get isWaiting(): boolean {
    return this.#state === "waiting";
  }

  /** What goes, goes one at a time. */
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
   * Next message to send, given the oldest of each conversation: conversations take turns, so that one with hundreds of
   * unsent messages does not hold up the others. The messages of a spread go together.
   */
  pickNext(oldest: readonly OutboxRow[]): OutboxRow[] {
    const turnOf = ({ conversation }: OutboxRow) => this.#lastRounds.get(conversation) ?? 0;
    const [first] = [...oldest].sort((a, b) => turnOf(a) - turnOf(b) || a.order - b.order);
    const picked = oldest.filter((row) => row === first || (row.spread !== undefined && row.spread === first?.spread));
    this.#round++;
    for (const { conversation } of picked) this.#lastRounds.set(conversation, this.#round);
    return picked;
  }

  stop(): void {
    this.#cancel();
  }
}
