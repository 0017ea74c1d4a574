import type { Uuid } from "#contract/ids.ts";
import { deletionBurst, deletionsPerSecond } from "#contract/limits.ts";
import type { CommandOf, CommandResults, Refusal } from "#contract/wire/commands.ts";
import { TokenBucket } from "#worker/objects/shared/token-bucket.ts";
import type { ConversationGateway } from "./conversation-gateway.ts";

/** Messages of their own that a person deletes for everybody, and how many of them in a time. */
export class MessageDeletions {
  readonly #user: Uuid;
  readonly #gateway: ConversationGateway;
  readonly #limit: TokenBucket;

  constructor(user: Uuid, gateway: ConversationGateway, factor: number) {
    this.#limit = new TokenBucket(deletionBurst * factor, deletionsPerSecond * factor);
    this.#user = user;
    this.#gateway = gateway;
  }

  /** By its place. */
  async deleteForEveryone({
    conversation: id,
    seq,
  }: CommandOf<"retract">): Promise<CommandResults["retract"] | Refusal> {
    return (
      this.#takeToken() ?? this.#gateway.call(id, (conversation) => conversation.deleteForEveryone(id, this.#user, seq))
    );
  }

  /** By its client id, wherever it is by now. */
  async deletePending({ conversation: id, cid }: CommandOf<"withdraw">): Promise<CommandResults["withdraw"] | Refusal> {
    return (
      this.#takeToken() ?? this.#gateway.call(id, (conversation) => conversation.deletePending(id, this.#user, cid))
    );
  }

  #takeToken(): Refusal | undefined {
    return this.#limit.take() ? undefined : { error: "rate_limited", retryAfterMs: this.#limit.waitMs() };
  }
}
