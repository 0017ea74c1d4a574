import type { Message } from "#contract/conversations.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import {
  pageMaxBytes,
  readBurst,
  readPerSecond,
  searchResultsMax,
  searchSliceBurst,
  searchSlicesMax,
  searchSlicesPerSecond,
} from "#contract/limits.ts";
import {
  type CommandOf,
  type CommandResults,
  isRefusal,
  type Refusal,
  type SearchResult,
} from "#contract/wire/commands.ts";
import type { SearchSlice } from "#worker/objects/rpc.ts";
import { KeyedMutex } from "#worker/objects/shared/keyed-mutex.ts";
import { TokenBucket } from "#worker/objects/shared/token-bucket.ts";
import type { InboxFeed } from "#worker/objects/user-channel/inbox/inbox-feed.ts";
import type { ConversationGateway } from "./conversation-gateway.ts";

type ReadCommand = "page" | "revised" | "search";

/**
 * Reads pages, changes and search results from conversations, rate limited, without the content of messages that the person
 * deleted for themselves.
 */
export class ConversationReader {
  readonly #user: Uuid;
  readonly #gateway: ConversationGateway;
  readonly #inbox: Pick<InboxFeed, "find" | "choices">;
  readonly #reads = new TokenBucket(readBurst, readPerSecond);
  readonly #slices = new TokenBucket(searchSliceBurst, searchSlicesPerSecond);
  /** Runs one search of a person at a time; a conversation serves others between two slices. */
  readonly #searches = new KeyedMutex<Uuid>();

  constructor(user: Uuid, gateway: ConversationGateway, inbox: Pick<InboxFeed, "find" | "choices">) {
    this.#user = user;
    this.#gateway = gateway;
    this.#inbox = inbox;
  }

  takeReadToken(): Refusal | undefined {
    return this.#reads.take() ? undefined : { error: "rate_limited", retryAfterMs: this.#reads.waitMs() };
  }

  /** `isWanted`: whether the client still waits for the answer. */
  async read(command: CommandOf<ReadCommand>, isWanted: () => boolean): Promise<CommandResults[ReadCommand] | Refusal> {
    const { conversation: id } = command;
    if (command.type === "search") return this.#searches.run(this.#user, () => this.#search(command, isWanted));
    const refusal = this.takeReadToken();
    if (refusal) return refusal;
    const result = await this.#gateway.call<CommandResults["page" | "revised"]>(id, (conversation) =>
      command.type === "page"
        ? conversation.listMessages(this.#user, command)
        : conversation.listRevisions(this.#user, command),
    );
    return isRefusal(result) ? result : { ...result, messages: this.#withoutDeleted(id, result.messages) };
  }

  #withoutDeleted(conversation: ConversationId, messages: Message[]): Message[] {
    return this.#inbox.choices.messageFlags.withoutDeleted(this.#inbox.find(conversation), messages);
  }

  /** Searches slice by slice while the response has room and the client waits for it. */
  async #search(command: CommandOf<"search">, isWanted: () => boolean): Promise<SearchResult | Refusal> {
    const messages: Message[] = [];
    let before: number | null = command.before;
    let bytes = 0;
    for (let slice = 0; slice < searchSlicesMax && before !== null && isWanted(); slice++) {
      // Enough for a whole search, so that the next one makes progress.
      if (!this.#slices.take())
        return slice > 0
          ? { messages, before }
          : { error: "rate_limited", retryAfterMs: this.#slices.waitMs(Date.now(), searchSlicesMax) };
      const query: CommandOf<"search"> = { ...command, before };
      const room = { messages: searchResultsMax - messages.length, bytes: pageMaxBytes - bytes };
      const found: SearchSlice | Refusal = await this.#gateway.call(command.conversation, (conversation) =>
        conversation.searchMessages(this.#user, query, room),
      );
      if (isRefusal(found)) return found;
      const visible = this.#withoutDeleted(command.conversation, found.messages);
      messages.push(...visible.filter(({ body }) => body.type !== "withheld"));
      bytes += found.bytes;
      before = found.before;
      if (found.isFull) break;
    }
    return { messages, before };
  }
}
