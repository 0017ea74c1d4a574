import { useEffect } from "react";
import { listNamedMembers } from "#components/messages/member-names.ts";
import type { ConversationId } from "#contract/ids.ts";
import type { StoreQuery } from "#sync/queries/live-queries.ts";
import { readConversation, readConversations } from "#sync/queries/queries.ts";
import type { ConversationListItem, ConversationView } from "#sync/store/view-models.ts";
import { useEngine, useLiveQuery } from "./use-live-query.ts";

export type { ConversationListItem, ConversationView } from "#sync/store/view-models.ts";

const listRows = 100;

/** The newest conversations, at most `limit`. */
export const conversationsQuery = (limit = listRows): StoreQuery<ConversationListItem[] | undefined> => [
  `conversations ${limit}`,
  ({ store, me, clock }) => readConversations(store, me, limit, clock),
];

export const conversationQuery = (id: ConversationId | undefined): StoreQuery<ConversationView> => [
  id && `conversation ${id}`,
  ({ store, me, clock }) => readConversation(store, me, id ?? "", clock),
];

/** The newest conversations, at most `limit`. Fewer than that means that there are no more. */
export const useConversations = (limit = listRows): ConversationListItem[] | undefined => {
  const list = useLiveQuery(...conversationsQuery(limit));
  const engine = useEngine();
  // Fetch unknown members who are named in the last messages.
  useEffect(() => {
    for (const { id, group, gone, last, memberProfiles } of list ?? []) {
      if (!group || gone) continue;
      const unknown = listNamedMembers(last).filter((number) => number !== group.number && !memberProfiles[number]);
      if (unknown.length > 0) engine?.tab.memberLoader.requestMembers(id, unknown);
    }
  }, [engine, list]);
  return list;
};

/** One conversation, or a default view if this device has no row of it. */
export const useConversation = (id: ConversationId | undefined): ConversationView | undefined =>
  useLiveQuery(...conversationQuery(id));
