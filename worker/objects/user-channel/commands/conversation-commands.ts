import type { ConversationId, Uuid } from "#contract/ids.ts";
import { readBurst, readPerSecond } from "#contract/limits/conversations.ts";
import type { Message } from "#contract/messages/message.ts";
import { type CommandOf, type CommandResults, isRefusal, type Refusal } from "#contract/wire/commands.ts";
import { TokenBucket } from "#worker/objects/shared/token-bucket.ts";
import type { InboxFeed } from "#worker/objects/user-channel/inbox/inbox-feed.ts";
import type { ConversationGateway } from "./conversation-gateway.ts";

type ReadCommand = "page" | "revised";

/**
 * Reads pages and changes from conversations, rate limited, without the content of messages that the person deleted for
 * themselves.
 */
export class ConversationReader {
  readonly #user: Uuid;
  readonly #gateway: ConversationGateway;
  readonly #inbox: Pick<InboxFeed, "find" | "choices">;
  readonly #reads = new TokenBucket(readBurst, readPerSecond);

  constructor(user: Uuid, gateway: ConversationGateway, inbox: Pick<InboxFeed, "find" | "choices">) {
    this.#user = user;
    this.#gateway = gateway;
    this.#inbox = inbox;
  }

  takeReadToken(): Refusal | undefined {
    return this.#reads.take() ? undefined : { error: "rate_limited", retryAfterMs: this.#reads.waitMs() };
  }

  async read(command: CommandOf<ReadCommand>): Promise<CommandResults[ReadCommand] | Refusal> {
    const { conversation: id } = command;
    const refusal = this.takeReadToken();
    if (refusal) return refusal;
    const result = await this.#gateway.call<CommandResults[ReadCommand]>(id, (conversation) =>
      command.type === "page"
        ? conversation.listMessages(this.#user, command)
        : conversation.listRevisions(this.#user, command),
    );
    return isRefusal(result) ? result : { ...result, messages: this.#withoutDeleted(id, result.messages) };
  }

  #withoutDeleted(conversation: ConversationId, messages: Message[]): Message[] {
    return this.#inbox.choices.messageFlags.withoutDeleted(this.#inbox.find(conversation), messages);
  }
}
