import type { ConversationId } from "#contract/ids.ts";
import { presenceStaleMs } from "#contract/limits.ts";
import type { Presence } from "#contract/settings.ts";
import type { Tab } from "#sync/tabs/tab.ts";

type AskingTab = Pick<Tab, "platform" | "link" | "ask" | "presenceTurns">;

/**
 * Asks again and again whether somebody is here, while the page is looked at and the server can be reached: at once
 * where they let themselves be seen now, or no more.
 */
export class PresenceAsker {
  readonly #tab: AskingTab;
  readonly #conversation: ConversationId;
  readonly #everyMs: number;
  readonly #tell: (presence: Presence | undefined) => void;
  readonly #unsubscribe: (() => void)[];
  #askedAt = Number.NEGATIVE_INFINITY;
  #heardAt = Number.NEGATIVE_INFINITY;
  #isAsking = false;
  #hasTurned = false;
  #isStopped = false;
  #cancel = () => {};

  constructor(
    tab: AskingTab,
    conversation: ConversationId,
    everyMs: number,
    tell: (presence: Presence | undefined) => void,
  ) {
    this.#tab = tab;
    this.#conversation = conversation;
    this.#everyMs = everyMs;
    this.#tell = tell;
    this.#unsubscribe = [
      tab.platform.onWake(() => void this.#ask()),
      tab.link.subscribe(() => void this.#ask()),
      tab.presenceTurns.subscribe(() => {
        this.#hasTurned = true;
        void this.#ask();
      }),
    ];
    void this.#ask();
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel();
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
  }

  /** Now, if it is due; and again when it is next. */
  async #ask(): Promise<void> {
    const { platform, link } = this.#tab;
    this.#cancel();
    // What was heard long ago says nothing of now.
    if (platform.now() - this.#heardAt > presenceStaleMs) this.#tell(undefined);
    const dueMs = this.#hasTurned ? 0 : this.#askedAt + this.#everyMs - platform.now();
    if (dueMs <= 0 && !this.#isAsking && platform.isVisible() && link.get() === "online") {
      // What is answered while they turn it may speak of before.
      do {
        this.#hasTurned = false;
        await this.#askNow();
      } while (this.#hasTurned && !this.#isStopped);
    }
    if (this.#isStopped) return;
    this.#cancel();
    this.#cancel = platform.after(Math.max(dueMs <= 0 ? this.#everyMs : dueMs, 1), () => void this.#ask());
  }

  async #askNow(): Promise<void> {
    const { platform } = this.#tab;
    this.#isAsking = true;
    this.#askedAt = platform.now();
    try {
      const presence = await this.#tab.ask({ type: "presence", conversation: this.#conversation });
      if (this.#isStopped) return;
      this.#heardAt = platform.now();
      this.#tell(presence);
    } catch {
      this.#askedAt = Number.NEGATIVE_INFINITY; // asked again when there is a chance
    } finally {
      this.#isAsking = false;
    }
  }
}
