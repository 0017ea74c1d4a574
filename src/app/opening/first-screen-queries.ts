import { type ConversationId, otherMember, type Uuid } from "#contract/ids.ts";
import { liveQueries } from "#sync/engine/engine.ts";
import {
  archivedCountQuery,
  chatQuery,
  conversationQuery,
  conversationsQuery,
  memberQuery,
  ownProfileQuery,
  personRowQuery,
  requestsQuery,
  securityNoticesQuery,
  settingsQuery,
} from "#sync/queries/screen-queries.ts";

const shellQueries = [settingsQuery, securityNoticesQuery];
const listQueries = [ownProfileQuery, conversationsQuery(), archivedCountQuery, requestsQuery];

const listChatQueries = (me: Uuid, conversation: ConversationId) => {
  const peer = otherMember(conversation, me);
  return [
    conversationQuery(conversation),
    chatQuery(conversation),
    ...(peer === undefined ? [] : [personRowQuery(peer), memberQuery(peer)]),
  ];
};

/**
 * Reads what the first screen shows in one transaction, so that its first render has everything. `conversation`: the
 * open chat. The results follow the store together until the promise of `waitForEnd`. Does not reject.
 */
export const preloadFirstScreen = async (
  me: Uuid,
  { conversation, hasList }: { conversation: ConversationId | undefined; hasList: boolean },
  waitForEnd: () => Promise<void>,
): Promise<void> => {
  const queries = [
    ...shellQueries,
    ...(hasList ? listQueries : []),
    ...(conversation === undefined ? [] : listChatQueries(me, conversation)),
  ];
  await liveQueries.get()?.preload(queries, waitForEnd);
};
