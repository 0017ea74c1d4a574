import type { GlobalSearchFilter } from "#contract/wire/global-search.ts";
import type { SearchFilter } from "#contract/wire/search-filter.ts";
import type { LocalConversationRow } from "#sync/store/database.ts";
import { findOwnNumber, toPeerNumber } from "#sync/store/row-mapping.ts";
import type { SyncContext } from "#sync/store/sync-context.ts";

/** Query of a search in all conversations: a text, a filter, or both. */
export type GlobalQuery = { query: string; filter?: GlobalSearchFilter | undefined };

/**
 * Filter of a search in one conversation. "none": the person of the filter is not in it. "unknown": it is a group, and
 * this device does not know whether and under which number the person is in it.
 */
export type ConversationFilter = SearchFilter | "none" | "unknown";

/** Reads the numbers of the person of a filter. Returns the filter of each conversation. */
export const readConversationFilters = async (
  { store, me }: SyncContext,
  { from, ...filter }: GlobalSearchFilter = {},
): Promise<(row: LocalConversationRow) => ConversationFilter> => {
  if (from === undefined) return () => filter;
  const members = from === me ? [] : await store.members.where("user").equals(from).toArray();
  const numbers = new Map(members.map(({ conversation, number }) => [conversation, number]));
  return (row) => {
    const number =
      from === me ? findOwnNumber(row, me) : row.peer === from ? toPeerNumber(row.id, me) : numbers.get(row.id);
    if (number !== undefined) return { ...filter, from: number };
    return row.group ? "unknown" : "none";
  };
};
