import type { Uuid } from "#contract/ids.ts";
import { pageMaxBytes } from "#contract/limits/conversations.ts";
import {
  conversationResultsMax,
  searchResultsMax,
  searchRowsMax,
  searchSliceBurst,
  searchSlicesMax,
  searchSlicesPerSecond,
} from "#contract/limits/search.ts";
import type { Message } from "#contract/messages/message.ts";
import { type CommandOf, isRefusal, type Refusal, type SearchResult } from "#contract/wire/commands.ts";
import type { GlobalSearch, GlobalSearchResult, SearchTarget } from "#contract/wire/global-search.ts";
import { logError } from "#worker/lib/log.ts";
import type { SearchSlice } from "#worker/objects/rpc/messages.ts";
import { KeyedMutex } from "#worker/objects/shared/keyed-mutex.ts";
import { TokenBucket } from "#worker/objects/shared/token-bucket.ts";
import type { InboxFeed } from "#worker/objects/user-channel/inbox/inbox-feed.ts";
import type { ConversationGateway } from "./conversation-gateway.ts";

/** Limits of a search in one conversation. */
type SearchLimits = { slices: number; messages: number };
type SizedResult = SearchResult & { bytes: number };

/** Seq above every message. */
const beyondNewest = Number.MAX_SAFE_INTEGER;

/**
 * Searches the conversations of a person, one search at a time and within the slices that the person has; a
 * conversation serves others between two slices. Messages that the person deleted for themselves are not found.
 */
export class SearchCommands {
  readonly #user: Uuid;
  readonly #gateway: ConversationGateway;
  readonly #inbox: Pick<InboxFeed, "find" | "choices">;
  readonly #slices = new TokenBucket(searchSliceBurst, searchSlicesPerSecond);
  readonly #searches = new KeyedMutex<Uuid>();

  constructor(user: Uuid, gateway: ConversationGateway, inbox: Pick<InboxFeed, "find" | "choices">) {
    this.#user = user;
    this.#gateway = gateway;
    this.#inbox = inbox;
  }

  /** Searches one conversation. `isWanted`: whether the client still waits for the answer. */
  searchConversation(command: CommandOf<"search">, isWanted: () => boolean): Promise<SearchResult | Refusal> {
    return this.#searches.run(this.#user, async () => {
      const limits = { slices: searchSlicesMax, messages: searchResultsMax };
      const found = await this.#search(command, limits, isWanted);
      return isRefusal(found) ? found : { messages: found.messages, before: found.before };
    });
  }

  /**
   * Searches several conversations side by side with the slices of one search. A conversation that the person does not
   * have gives the same result as one without a match, and is not called.
   */
  searchConversations(search: GlobalSearch): Promise<GlobalSearchResult | Refusal> {
    return this.#searches.run(this.#user, async () => {
      if (this.#slices.waitMs() > 0) return this.#refuse();
      const slices = Math.floor(searchSlicesMax / search.targets.length);
      const found = await Promise.all(search.targets.map((target) => this.#searchTarget(search, target, slices)));
      return { results: fitResponse(search.targets, found) };
    });
  }

  /** Null if the conversation does not answer. */
  async #searchTarget(search: GlobalSearch, target: SearchTarget, slices: number): Promise<SizedResult | null> {
    const { conversation, before = beyondNewest } = target;
    const { from: sender, ...filter } = search.filter ?? {};
    const row = this.#inbox.find(conversation);
    if (!row || row.gone || row.head <= row.hidden) return { messages: [], before: null, bytes: 0 };
    try {
      const limits = { slices, messages: conversationResultsMax };
      const command = { type: "search", conversation, query: search.query, filter, before } as const;
      const found = await this.#search(command, limits, () => true, sender);
      if (!isRefusal(found)) return found;
      // The other conversations of the request used up the slices.
      return found.error === "rate_limited" ? { messages: [], before, bytes: 0 } : null;
    } catch (error) {
      logError("searching a conversation failed", error);
      return null;
    }
  }

  #refuse(): Refusal {
    // Enough for a whole search, so that the next one makes progress.
    return { error: "rate_limited", retryAfterMs: this.#slices.waitMs(Date.now(), searchSlicesMax) };
  }

  /**
   * Searches slice by slice while the result has room and the client waits for it. `sender`: finds messages of this
   * person only.
   */
  async #search(
    command: CommandOf<"search">,
    limits: SearchLimits,
    isWanted: () => boolean,
    sender?: Uuid,
  ): Promise<SizedResult | Refusal> {
    const { conversation: id } = command;
    const messages: Message[] = [];
    let before: number | null = command.before;
    let bytes = 0;
    let rows = searchRowsMax;
    for (let slice = 0; slice < limits.slices && rows > 0 && before !== null && isWanted(); slice++) {
      if (!this.#slices.take()) return slice > 0 ? { messages, before, bytes } : this.#refuse();
      const query: CommandOf<"search"> = { ...command, before };
      const room = { messages: limits.messages - messages.length, bytes: pageMaxBytes - bytes, rows };
      const found: SearchSlice | Refusal = await this.#gateway.call(id, (conversation) =>
        conversation.searchMessages(this.#user, query, room, sender),
      );
      if (isRefusal(found)) return found;
      const visible = this.#inbox.choices.messageFlags.withoutDeleted(this.#inbox.find(id), found.messages);
      messages.push(...visible.filter(({ body }) => body.type !== "withheld"));
      bytes += found.bytes;
      rows -= found.rows;
      before = found.before;
      if (found.isLast) break;
    }
    return { messages, before, bytes };
  }
}

/** Results that fit one response. The others are left out, with their target as the place to continue. */
const fitResponse = (
  targets: readonly SearchTarget[],
  found: readonly (SizedResult | null)[],
): GlobalSearchResult["results"] => {
  let total = 0;
  return found.map((result, index) => {
    if (!result) return null;
    const { messages, before, bytes } = result;
    if (total > 0 && total + bytes > pageMaxBytes)
      return { messages: [], before: targets[index]?.before ?? beyondNewest };
    total += bytes;
    return { messages, before };
  });
};
