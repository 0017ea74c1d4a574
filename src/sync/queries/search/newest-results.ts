import { conversationResultsMax } from "#contract/limits/search.ts";
import { FoldedQuery } from "#lib/text/search-matching.ts";
import type { SyncContext } from "#sync/store/sync-context.ts";
import { type FoundMessage, listConversations, toFoundMessages } from "./stored-message-search.ts";
import { ConversationScan, findInBlock, type TextBlockCache } from "./text-blocks.ts";

const conversationsMax = 10; // their newest messages have the first results of a frequent word

/** Newest messages of a conversation as results, oldest first, and their folded texts. */
export type NewestResults = { text: string; messages: readonly FoundMessage[] };

/**
 * Newest messages of the conversations with the newest ones, in one transaction, because a person may type at once.
 * They are read from the store, not from the cache, so that a live query follows their changes; the cache receives
 * them.
 */
export const readNewestResults = async (context: SyncContext, cache: TextBlockCache): Promise<NewestResults[]> => {
  const { conversations, messages, people, members, meta } = context.store;
  return context.store.transaction("r", [conversations, messages, people, members, meta], async () => {
    const rows = (await listConversations(context)).slice(0, conversationsMax);
    return Promise.all(
      rows.map(async (row) => {
        const scan = new ConversationScan(row, conversationResultsMax);
        const block = await scan.readNewest(context.store, cache);
        return { text: block.text, messages: await toFoundMessages(context, row, block.messages) };
      }),
    );
  });
};

const newestFirst = (a: FoundMessage, b: FoundMessage) => b.at - a.at;

/** Time of the newest of these messages. */
export const findNewestTime = (newest: readonly NewestResults[]): number =>
  Math.max(0, ...newest.flatMap(({ messages }) => messages.map(({ at }) => at)));

/** Messages after a time that match, newest first. */
export const findArrivedResults = (
  newest: readonly NewestResults[],
  after: number,
  isMatch: (message: FoundMessage) => boolean,
): FoundMessage[] =>
  newest
    .flatMap(({ messages }) => messages.filter((message) => message.at > after && isMatch(message)))
    .sort(newestFirst);

/** The first of these messages that match a query, in the order of a search on this device. */
export const findNewestResults = (newest: readonly NewestResults[], query: string, max: number): FoundMessage[] => {
  const folded = new FoldedQuery(query);
  const found: FoundMessage[] = [];
  for (const block of newest) {
    const indexes = findInBlock(block, folded, Math.min(conversationResultsMax, max - found.length));
    found.push(...indexes.flatMap((index) => block.messages[index] ?? []));
    if (found.length >= max) break;
  }
  return found;
};
