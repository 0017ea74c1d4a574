import type { ConversationId } from "#contract/ids.ts";
import type { ReplyTarget } from "#sync/store/database.ts";
import { readReplyDraft, writeReplyDraft } from "#sync/store/journal.ts";
import type { SyncPort } from "#sync/store/sync-port.ts";
import { notifyReplyDrafts, replyDraftListeners } from "./reply-draft-listeners.ts";

/**
 * Messages that the drafts of this person answer, by conversation. They stand in localStorage beside the journal, so
 * that they survive the page and are the same in every tab.
 */
export class ReplyDrafts {
  readonly #scope: Parameters<typeof readReplyDraft>[0];
  /** Replies that could not be stored and that only this page knows. */
  readonly #unstored = new Map<ConversationId, ReplyTarget>();

  constructor(scope: Pick<SyncPort, "platform" | "me">) {
    this.#scope = scope;
  }

  find(conversation: ConversationId): ReplyTarget | undefined {
    return this.#unstored.get(conversation) ?? readReplyDraft(this.#scope, conversation);
  }

  /** Sets the message that the draft of a conversation answers; undefined makes it an ordinary draft. */
  readonly set = (conversation: ConversationId, target: ReplyTarget | undefined): void => {
    this.#unstored.delete(conversation);
    if (!writeReplyDraft(this.#scope, conversation, target) && target !== undefined)
      this.#unstored.set(conversation, target);
    notifyReplyDrafts();
  };

  readonly subscribe = (listener: () => void): (() => void) => {
    if (replyDraftListeners.size === 0) addEventListener("storage", notifyReplyDrafts); // of other tabs
    replyDraftListeners.add(listener);
    return () => {
      replyDraftListeners.delete(listener);
      if (replyDraftListeners.size === 0) removeEventListener("storage", notifyReplyDrafts);
    };
  };
}
