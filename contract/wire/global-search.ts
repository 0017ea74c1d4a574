import * as v from "valibot";
import { Seq } from "#contract/conversations.ts";
import { ConversationId } from "#contract/ids.ts";
import { searchedConversationsMax, searchQueryMaxLength } from "#contract/limits.ts";
import { SearchResult } from "./commands.ts";

/** Conversation to be searched: from the message below `before` down, or from its newest message. */
export const SearchTarget = v.strictObject({ conversation: ConversationId, before: v.optional(Seq) });
export type SearchTarget = v.InferOutput<typeof SearchTarget>;

const areDistinct = (targets: SearchTarget[]): boolean =>
  new Set(targets.map(({ conversation }) => conversation)).size === targets.length;

/** Search in several conversations by one request, which the device chooses: it knows what it has searched itself. */
export const GlobalSearch = v.strictObject({
  query: v.pipe(v.string(), v.minLength(1), v.maxLength(searchQueryMaxLength)),
  targets: v.pipe(
    v.array(SearchTarget),
    v.minLength(1),
    v.maxLength(searchedConversationsMax),
    v.check(areDistinct, "each conversation once"),
  ),
});
export type GlobalSearch = v.InferOutput<typeof GlobalSearch>;

/**
 * Result of each target in the order of the request, with at most `conversationResultsMax` messages. Null: the
 * conversation could not be searched now.
 */
export const GlobalSearchResult = v.object({ results: v.array(v.nullable(SearchResult)) });
export type GlobalSearchResult = v.InferOutput<typeof GlobalSearchResult>;
