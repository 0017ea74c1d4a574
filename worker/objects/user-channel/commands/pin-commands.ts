import type { Uuid } from "#contract/ids.ts";
import { pinBurst, pinsPerSecond } from "#contract/limits/messages.ts";
import type { CommandOf, CommandResults, Refusal } from "#contract/wire/commands.ts";
import { TokenBucket } from "#worker/objects/shared/token-bucket.ts";
import type { ConversationGateway } from "./conversation-gateway.ts";

/** Pins and unpins messages for all members of a conversation, rate limited. */
export class PinCommands {
  readonly #user: Uuid;
  readonly #gateway: ConversationGateway;
  readonly #limit: TokenBucket;

  constructor(user: Uuid, gateway: ConversationGateway, factor: number) {
    this.#limit = new TokenBucket(pinBurst * factor, pinsPerSecond * factor);
    this.#user = user;
    this.#gateway = gateway;
  }

  async pinMessage(command: CommandOf<"pinMessage">): Promise<CommandResults["pinMessage"] | Refusal> {
    if (!this.#limit.take()) return { error: "rate_limited", retryAfterMs: this.#limit.waitMs() };
    return this.#gateway.call(command.conversation, (conversation) => conversation.pinMessage(this.#user, command));
  }
}
