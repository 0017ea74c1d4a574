import type { ConversationId, Uuid } from "#contract/ids.ts";
import {
  messageFlagBurst,
  messageFlagsPerSecond,
  messagesDeletedForSelfMax,
  starredMessagesMax,
} from "#contract/limits/messages.ts";
import { hasContent } from "#contract/messages/kinds.ts";
import { type CommandOf, type CommandResults, isRefusal, type Refusal } from "#contract/wire/commands.ts";
import { TokenBucket } from "#worker/objects/shared/token-bucket.ts";
import type { InboxFeed } from "#worker/objects/user-channel/inbox/inbox-feed.ts";
import type { ConversationGateway } from "./conversation-gateway.ts";

const readsMax = 5; // of a message whose conversation changes meanwhile

type MessageFlagPorts = {
  user: Uuid;
  inbox: Pick<InboxFeed, "find" | "choices">;
  gateway: ConversationGateway;
  /** Multiple of the production limits. */
  factor: number;
};

/** Stars messages and deletes them for their reader alone. */
export class MessageFlagCommands {
  readonly #ports: MessageFlagPorts;
  readonly #changes: TokenBucket;

  constructor(ports: MessageFlagPorts) {
    this.#ports = ports;
    this.#changes = new TokenBucket(messageFlagBurst * ports.factor, messageFlagsPerSecond * ports.factor);
  }

  /** Only messages that the person sees get flags. A message that is deleted, also for everybody, loses its star. */
  async setFlags({
    conversation,
    seq,
    starred,
    deleted,
  }: CommandOf<"setMessageFlags">): Promise<CommandResults["setMessageFlags"] | Refusal> {
    const { inbox } = this.#ports;
    const { messageFlags } = inbox.choices;
    const row = inbox.find(conversation);
    if (!row || row.gone) return { error: "conversation_not_found" };
    const before = messageFlags.find(row.handle, seq);
    const isChange = deleted ? !before.isDeleted : starred !== undefined && starred !== (before.starredAt !== null);
    if (before.isDeleted && starred && !deleted) return { error: "message_not_found" };
    if (!isChange) return { revision: row.flagsRevision };
    if (!this.#changes.take()) return { error: "rate_limited", retryAfterMs: this.#changes.waitMs() };
    if (!deleted && !starred) return this.#write(conversation, seq, { starredAt: null, isDeleted: false });
    const refusal = await this.#findRefusal(conversation, seq, deleted === true);
    if (refusal) return refusal;
    const counts = messageFlags.counts;
    if (!deleted && counts.starred >= starredMessagesMax) return { error: "too_many_starred" };
    if (deleted && counts.deleted >= messagesDeletedForSelfMax) return { error: "too_many_deleted" };
    return this.#write(
      conversation,
      seq,
      deleted ? { starredAt: null, isDeleted: true } : { starredAt: Date.now(), isDeleted: false },
    );
  }

  #write(...change: Parameters<InboxFeed["choices"]["setMessageFlags"]>): { revision: number } | Refusal {
    const entry = this.#ports.inbox.choices.setMessageFlags(...change);
    return entry ? { revision: entry.flagsRevision } : { error: "conversation_not_found" };
  }

  /**
   * Asks the conversation whether the person sees the message. Repeated if it changed meanwhile; the device repeats the
   * command if it never stops changing.
   */
  async #findRefusal(conversation: ConversationId, seq: number, isDeletion: boolean): Promise<Refusal | undefined> {
    const { user, inbox, gateway } = this.#ports;
    for (let reads = 0; reads < readsMax; reads++) {
      const revision = inbox.find(conversation)?.revision;
      const page = await gateway.call<CommandResults["page"]>(conversation, (stub) =>
        stub.listMessages(user, { type: "page", conversation, direction: "after", seq: seq - 1, limit: 1 }),
      );
      if (isRefusal(page)) return page;
      const row = inbox.find(conversation);
      if (row?.revision !== revision) continue;
      const [message] = page.messages;
      const isSeen = message?.seq === seq && row !== undefined && seq > row.hidden;
      const isFlaggable = isSeen && (hasContent(message.body) || (isDeletion && message.body.type !== "withheld"));
      return isFlaggable ? undefined : { error: "message_not_found" };
    }
    return { error: "unavailable" };
  }
}
