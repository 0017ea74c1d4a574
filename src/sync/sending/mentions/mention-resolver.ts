import type { ConversationId } from "#contract/ids.ts";
import { KeyedBackoff } from "#sync/platform/keyed-backoff.ts";
import type { SyncContext } from "#sync/store/sync-context.ts";
import type { OutboxRow } from "#sync/unsent/outbox-row.ts";

/**
 * Finds the mentions of unsent messages that were written without the group's member list, one message of a group at a
 * time. After a failure it tries again with increasing delays.
 */
export class MentionResolver {
  readonly #context: SyncContext;
  readonly #onChange: () => void;
  readonly #backoff: KeyedBackoff<ConversationId>;
  readonly #running = new Set<ConversationId>();

  /** `onChange` is called when a message is ready to be sent, or may be tried again. */
  constructor(context: SyncContext, onChange: () => void) {
    this.#context = context;
    this.#onChange = onChange;
    this.#backoff = new KeyedBackoff(context.platform, onChange);
  }

  /** Starts with a message, unless its group is busy or waits after a failure. */
  start(row: OutboxRow): void {
    const { conversation } = row;
    if (this.#running.has(conversation) || this.#backoff.isWaiting(conversation)) return;
    this.#running.add(conversation);
    void this.#resolve(row).then((isDone) => {
      this.#running.delete(conversation);
      if (isDone) this.#backoff.reset(conversation);
      else this.#backoff.delay(conversation);
      this.#onChange();
    });
  }

  async #resolve(row: OutboxRow): Promise<boolean> {
    try {
      const code = await import("./named-mentions.ts");
      await code.resolveUnsentMentions(this.#context, row);
      return true;
    } catch {
      return false;
    }
  }

  /** Ends the delays because the server became reachable. */
  retryNow(): void {
    this.#backoff.retryNow();
  }

  stop(): void {
    this.#backoff.stop();
  }
}
