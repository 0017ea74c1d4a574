import type { ConversationId } from "../../contract/ids";

const pauseMs = 1_000; // what a device says more often than this is dropped
const rememberedMax = 100; // conversations

/** How often a person may say in each conversation that they are typing. */
export class TypingLimit {
  readonly #saidAt = new Map<ConversationId, number>();

  take(conversation: ConversationId, now = Date.now()): boolean {
    if (Math.abs(now - (this.#saidAt.get(conversation) ?? 0)) < pauseMs) return false;
    if (this.#saidAt.size >= rememberedMax) this.#saidAt.clear();
    this.#saidAt.set(conversation, now);
    return true;
  }

  /** What was typed is sent: what is typed next is news. */
  forget(conversation: ConversationId): void {
    this.#saidAt.delete(conversation);
  }
}
