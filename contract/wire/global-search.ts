import * as v from "valibot";
import { ConversationId, Uuid } from "#contract/ids.ts";
import { searchedConversationsMax, searchQueryMaxLength } from "#contract/limits/search.ts";
import { Seq } from "#contract/messages/positions.ts";
import { SearchResult } from "./commands.ts";
import { isSearchable, SearchFilter } from "./search-filter.ts";

/** Conversation to be searched: from the message below `before` down, or from its newest message. */
export const SearchTarget = v.strictObject({ conversation: ConversationId, before: v.optional(Seq) });
export type SearchTarget = v.InferOutput<typeof SearchTarget>;

const areDistinct = (targets: SearchTarget[]): boolean =>
  new Set(targets.map(({ conversation }) => conversation)).size === targets.length;

/** Filter of a search in several conversations: that of one conversation, with the sender as a person. */
export const GlobalSearchFilter = v.strictObject({ ...SearchFilter.entries, from: v.optional(Uuid) });
export type GlobalSearchFilter = v.InferOutput<typeof GlobalSearchFilter>;

/** Search in several conversations by one request, which the device chooses: it knows what it has searched itself. */
export const GlobalSearch = v.pipe(
  v.strictObject({
    query: v.pipe(v.string(), v.maxLength(searchQueryMaxLength)),
    filter: v.optional(GlobalSearchFilter),
    targets: v.pipe(
      v.array(SearchTarget),
      v.minLength(1),
      v.maxLength(searchedConversationsMax),
      v.check(areDistinct, "each conversation once"),
    ),
  }),
  v.check((search) => isSearchable(search), "a text or a filter"),
);
export type GlobalSearch = v.InferOutput<typeof GlobalSearch>;

/**
 * Result of each target in the order of the request, with at most `conversationResultsMax` messages. Null: the
 * conversation could not be searched now.
 */
export const GlobalSearchResult = v.object({ results: v.array(v.nullable(SearchResult)) });
export type GlobalSearchResult = v.InferOutput<typeof GlobalSearchResult>;
