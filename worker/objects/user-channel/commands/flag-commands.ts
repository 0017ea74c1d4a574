import { flagBurst, flagsPerSecond, pinnedConversationsMax } from "#contract/limits/conversations.ts";
import { applyFlagChange, isSameFlags } from "#contract/settings/conversation-flags.ts";
import type { CommandOf, CommandResults, Refusal } from "#contract/wire/commands.ts";
import { TokenBucket } from "#worker/objects/shared/token-bucket.ts";
import type { InboxFeed } from "#worker/objects/user-channel/inbox/inbox-feed.ts";

type FlagInbox = Pick<InboxFeed, "find" | "choices" | "epoch">;

/** Commands that mark conversations as unread, archive and pin them. */
export class FlagCommands {
  readonly #inbox: FlagInbox;
  readonly #changes: TokenBucket;

  /** `factor`: multiple of the production limits. */
  constructor(inbox: FlagInbox, factor: number) {
    this.#inbox = inbox;
    this.#changes = new TokenBucket(flagBurst * factor, flagsPerSecond * factor);
  }

  /**
   * Applies the change in the order of arrival. A mark as unread is left out if the person has read the conversation
   * since the change that the device knew, and an archiving if a message has arrived since.
   */
  setFlags({
    conversation,
    known,
    ...change
  }: CommandOf<"setConversationFlags">): CommandResults["setConversationFlags"] | Refusal {
    const row = this.#inbox.find(conversation);
    if (!row || row.gone) return { error: "conversation_not_found" };
    const isOutdated = (since: number) => known?.epoch === this.#inbox.epoch && known.counter < since;
    if (change.marked && isOutdated(row.lastReadChange)) delete change.marked;
    if (change.archived && isOutdated(row.lastArrivalChange)) delete change.archived;
    const { count, last } = this.#inbox.choices.pins;
    const flags = applyFlagChange(row, change, Math.max(Date.now(), (last ?? 0) + 1));
    if (!isSameFlags(row, flags)) {
      const isNewPin = flags.pinnedAt !== null && row.pinnedAt === null;
      if (isNewPin && count >= pinnedConversationsMax) return { error: "too_many_pinned" };
      if (!this.#changes.take()) return { error: "rate_limited", retryAfterMs: this.#changes.waitMs() };
    }
    const { marked, archived, pinnedAt, changed } = this.#inbox.choices.setFlags(conversation, flags) ?? row;
    return { marked, archived, pinnedAt, change: { epoch: this.#inbox.epoch, counter: changed } };
  }
}
