import type { Uuid } from "#contract/ids.ts";
import { reactionBurst, reactionsPerSecond } from "#contract/limits/messages.ts";
import type { CommandOf, CommandResults, Refusal } from "#contract/wire/commands.ts";
import { TokenBucket } from "#worker/objects/shared/token-bucket.ts";
import type { ConversationGateway } from "./conversation-gateway.ts";

/** Sets and removes a person's reactions, rate limited. */
export class ReactionCommands {
  readonly #user: Uuid;
  readonly #gateway: ConversationGateway;
  readonly #limit: TokenBucket;

  constructor(user: Uuid, gateway: ConversationGateway, factor: number) {
    this.#limit = new TokenBucket(reactionBurst * factor, reactionsPerSecond * factor);
    this.#user = user;
    this.#gateway = gateway;
  }

  async react(command: CommandOf<"react">): Promise<CommandResults["react"] | Refusal> {
    if (!this.#limit.take()) return { error: "rate_limited", retryAfterMs: this.#limit.waitMs() };
    return this.#gateway.call(command.conversation, (conversation) => conversation.react(this.#user, command));
  }
}
