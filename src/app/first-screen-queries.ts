import { type ConversationId, otherMember, type Uuid } from "#contract/ids.ts";
import { waitForIdle } from "#lib/browser/idle.ts";
import { liveQueries } from "#sync/engine.ts";
import { securityNoticesQuery } from "#sync/hooks/notices/use-security-notices.ts";
import { chatQuery } from "#sync/hooks/use-chat.ts";
import { archivedCountQuery, conversationQuery, conversationsQuery } from "#sync/hooks/use-conversations.ts";
import { memberQuery, ownProfileQuery, personRowQuery, requestsQuery } from "#sync/hooks/use-people.ts";
import { settingsQuery } from "#sync/hooks/use-settings.ts";
import { textDraftQuery, voiceDraftsQuery } from "#sync/hooks/use-unsent.ts";

const shellQueries = [settingsQuery, securityNoticesQuery];
const listQueries = [ownProfileQuery, conversationsQuery(), archivedCountQuery, requestsQuery, voiceDraftsQuery];

const listChatQueries = (me: Uuid, conversation: ConversationId) => {
  const peer = otherMember(conversation, me);
  return [
    conversationQuery(conversation),
    chatQuery(conversation),
    textDraftQuery(conversation),
    ...(peer === undefined ? [] : [personRowQuery(peer), memberQuery(peer)]),
  ];
};

/**
 * Reads what the first screen shows in one transaction, so that its first render has everything. `conversation`: the
 * open chat. Does not reject.
 */
export const preloadFirstScreen = async (
  me: Uuid,
  { conversation, hasList }: { conversation: ConversationId | undefined; hasList: boolean },
): Promise<void> => {
  const queries = [
    ...shellQueries,
    ...(hasList ? listQueries : []),
    ...(conversation === undefined ? [] : listChatQueries(me, conversation)),
  ];
  await liveQueries.get()?.preload(queries, waitForIdle);
};
