import type { Uuid } from "#contract/ids.ts";
import { sendBurst, sendPerSecond, sendTokenLength } from "#contract/limits/messages.ts";
import type { CommandOf, CommandResults, Refusal } from "#contract/wire/commands.ts";
import { TokenBucket } from "#worker/objects/shared/token-bucket.ts";
import type { ConversationGateway } from "./conversation-gateway.ts";

/** Edits a person's own messages, rate limited like sending. */
export class MessageEdits {
  readonly #user: Uuid;
  readonly #gateway: ConversationGateway;
  readonly #limit: TokenBucket;

  /** `factor`: multiple of the production limit. */
  constructor(user: Uuid, gateway: ConversationGateway, factor: number) {
    this.#limit = new TokenBucket(sendBurst * factor, sendPerSecond * factor);
    this.#user = user;
    this.#gateway = gateway;
  }

  async editMessage({
    conversation: id,
    target,
    edit,
    text,
  }: CommandOf<"editMessage">): Promise<CommandResults["editMessage"] | Refusal> {
    const tokens = 1 + Math.floor(text.length / sendTokenLength);
    if (!this.#limit.take(Date.now(), tokens))
      return { error: "rate_limited", retryAfterMs: this.#limit.waitMs(Date.now(), tokens) };
    return this.#gateway.call(id, (conversation) => conversation.editMessage(this.#user, { target, edit, text }));
  }
}
