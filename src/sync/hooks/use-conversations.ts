import { useEffect } from "react";
import { listNamedMembers } from "#components/messages/member-names.ts";
import type { ConversationId } from "#contract/ids.ts";
import { archivedCountQuery, conversationQuery, conversationsQuery } from "#sync/queries/screen-queries.ts";
import type { ConversationListItem, ConversationView, ListFilter } from "#sync/store/view-models.ts";
import { useEngine, useLiveQuery } from "./use-live-query.ts";

export type { ConversationListItem, ConversationView, ListFilter } from "#sync/store/view-models.ts";

/** Pinned conversations and the newest others, at most `limit`. Fewer than that means that there are no more. */
export const useConversations = (limit?: number, filter?: ListFilter): ConversationListItem[] | undefined => {
  const list = useLiveQuery(...conversationsQuery(limit, filter));
  const engine = useEngine();
  // Fetch unknown members who are named in the last messages.
  useEffect(() => {
    for (const { id, group, gone, last, memberProfiles } of list ?? []) {
      if (!group || gone) continue;
      const unknown = listNamedMembers(last).filter((number) => number !== group.number && !memberProfiles[number]);
      if (unknown.length > 0) engine?.client.memberLoader.requestMembers(id, unknown);
    }
  }, [engine, list]);
  return list;
};

/** Number of archived conversations. */
export const useArchivedCount = (): number => useLiveQuery(...archivedCountQuery) ?? 0;

/** One conversation, or a default view if this device has no row of it. */
export const useConversation = (id: ConversationId | undefined): ConversationView | undefined =>
  useLiveQuery(...conversationQuery(id));
