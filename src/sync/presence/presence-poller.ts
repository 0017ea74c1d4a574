import type { ConversationId } from "#contract/ids.ts";
import { presenceStaleMs } from "#contract/limits/people.ts";
import type { Presence } from "#contract/settings/settings.ts";
import type { SyncPort } from "#sync/store/sync-port.ts";

type PresencePort = Pick<SyncPort, "platform" | "link" | "request" | "presenceVersion">;

/**
 * Polls the presence of the other person of a private conversation, while the page is visible and the server reachable.
 * Polls at once when the server says that the person's presence became visible or hidden.
 */
export class PresencePoller {
  readonly #port: PresencePort;
  readonly #conversation: ConversationId;
  readonly #intervalMs: number;
  readonly #onPresence: (presence: Presence | undefined) => void;
  readonly #unsubscribe: (() => void)[];
  #polledAt = Number.NEGATIVE_INFINITY;
  #answeredAt = Number.NEGATIVE_INFINITY;
  #isPolling = false;
  #isRefreshNeeded = false;
  #isStopped = false;
  #cancel = () => {};

  constructor(
    port: PresencePort,
    conversation: ConversationId,
    intervalMs: number,
    onPresence: (presence: Presence | undefined) => void,
  ) {
    this.#port = port;
    this.#conversation = conversation;
    this.#intervalMs = intervalMs;
    this.#onPresence = onPresence;
    this.#unsubscribe = [
      port.platform.onWake(() => void this.#pollIfDue()),
      port.link.subscribe(() => void this.#pollIfDue()),
      port.presenceVersion.subscribe(() => {
        this.#isRefreshNeeded = true;
        void this.#pollIfDue();
      }),
    ];
    void this.#pollIfDue();
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel();
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
  }

  /** Polls now if it is due, and schedules the next poll. */
  async #pollIfDue(): Promise<void> {
    const { platform, link } = this.#port;
    this.#cancel();
    // An old answer says nothing about the present.
    if (platform.now() - this.#answeredAt > presenceStaleMs) this.#onPresence(undefined);
    const dueMs = this.#isRefreshNeeded ? 0 : this.#polledAt + this.#intervalMs - platform.now();
    if (dueMs <= 0 && !this.#isPolling && platform.isVisible() && link.get() === "online") {
      // An answer that crossed a change of visibility may be older than the change.
      do {
        this.#isRefreshNeeded = false;
        await this.#poll();
      } while (this.#isRefreshNeeded && !this.#isStopped);
    }
    if (this.#isStopped) return;
    this.#cancel();
    this.#cancel = platform.startTimer(
      Math.max(dueMs <= 0 ? this.#intervalMs : dueMs, 1),
      () => void this.#pollIfDue(),
    );
  }

  async #poll(): Promise<void> {
    const { platform } = this.#port;
    this.#isPolling = true;
    this.#polledAt = platform.now();
    try {
      const presence = await this.#port.request({ type: "presence", conversation: this.#conversation });
      if (this.#isStopped) return;
      this.#answeredAt = platform.now();
      this.#onPresence(presence);
    } catch {
      this.#polledAt = Number.NEGATIVE_INFINITY; // due again at the next event
    } finally {
      this.#isPolling = false;
    }
  }
}
