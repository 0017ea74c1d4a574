import type { Uuid } from "#contract/ids.ts";
import { deletionBurst, deletionsPerSecond } from "#contract/limits/messages.ts";
import type { CommandOf, CommandResults, Refusal } from "#contract/wire/commands.ts";
import { TokenBucket } from "#worker/objects/shared/token-bucket.ts";
import type { ConversationGateway } from "./conversation-gateway.ts";

/** Deletes a person's own messages for everyone, rate limited. */
export class MessageDeletions {
  readonly #user: Uuid;
  readonly #gateway: ConversationGateway;
  readonly #limit: TokenBucket;

  constructor(user: Uuid, gateway: ConversationGateway, factor: number) {
    this.#limit = new TokenBucket(deletionBurst * factor, deletionsPerSecond * factor);
    this.#user = user;
    this.#gateway = gateway;
  }

  /** Deletes a message by seq. */
  async deleteForEveryone({
    conversation: id,
    seq,
  }: CommandOf<"deleteForEveryone">): Promise<CommandResults["deleteForEveryone"] | Refusal> {
    return (
      this.#takeToken() ?? this.#gateway.call(id, (conversation) => conversation.deleteForEveryone(this.#user, seq))
    );
  }

  /** Deletes a message by client id, whether or not it has arrived. */
  async deletePending({
    conversation: id,
    cid,
  }: CommandOf<"deletePending">): Promise<CommandResults["deletePending"] | Refusal> {
    return this.#takeToken() ?? this.#gateway.call(id, (conversation) => conversation.deletePending(this.#user, cid));
  }

  #takeToken(): Refusal | undefined {
    return this.#limit.take() ? undefined : { error: "rate_limited", retryAfterMs: this.#limit.waitMs() };
  }
}
