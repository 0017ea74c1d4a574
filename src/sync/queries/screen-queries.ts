import type { SecurityNotice } from "#contract/auth/security-notice.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import { messagePageRows } from "#contract/limits/conversations.ts";
import type { Settings } from "#contract/settings/settings.ts";
import type { PersonRow } from "#sync/store/database.ts";
import { readLastKnownProfile } from "#sync/store/members.ts";
import { readOwnProfile } from "#sync/store/own-profile-row.ts";
import { listUnseenNotices } from "#sync/store/security-notice-rows.ts";
import { readSettings, toEffectiveSettings } from "#sync/store/settings-rows.ts";
import type { ConversationListItem, ConversationView, ListFilter } from "#sync/store/view-models.ts";
import { type ChatSnapshot, readChat } from "./chat-messages.ts";
import { readConversation } from "./conversation.ts";
import { countArchived, readConversations } from "./conversation-list.ts";
import type { StoreQuery } from "./live-queries.ts";
import { readContactRequests } from "./people.ts";

/**
 * Queries of the first screens, apart from their hooks: they are read before the code that renders has arrived
 * (src/app/opening).
 */

export const settingsQuery: StoreQuery<Settings> = [
  "settings",
  async (context) => toEffectiveSettings(await readSettings(context)),
];

export const securityNoticesQuery: StoreQuery<SecurityNotice[]> = [
  "security-notices",
  ({ store, platform }) => listUnseenNotices(store, platform.now()),
];

const listRows = 100;

/** The newest conversations, at most `limit`. */
export const conversationsQuery = (
  limit = listRows,
  filter: ListFilter = "all",
): StoreQuery<ConversationListItem[] | undefined> => [
  `conversations ${limit} ${filter}`,
  (context) => readConversations(context, limit, context.clock, filter),
];

export const archivedCountQuery: StoreQuery<number> = ["archived", ({ store }) => countArchived(store)];

export const conversationQuery = (id: ConversationId | undefined): StoreQuery<ConversationView> => [
  id && `conversation ${id}`,
  (context) => readConversation(context, id ?? "", context.clock),
];

/** The newest messages of a conversation, at most `limit`. */
export const chatQuery = (id: ConversationId | undefined, limit = messagePageRows): StoreQuery<ChatSnapshot> => [
  id && `chat ${id} ${limit}`,
  (context) => readChat(context, id ?? "", limit),
];

export const personRowQuery = (id: Uuid | undefined): StoreQuery<PersonRow | null> => [
  id && `person ${id}`,
  async ({ store }) => (await store.people.get(id ?? "")) ?? null,
];

export const memberQuery = (id: Uuid | undefined): StoreQuery<PersonRow | null> => [
  id && `member ${id}`,
  ({ store }) => readLastKnownProfile(store, id ?? ""),
];

export const ownProfileQuery: StoreQuery<PersonRow | null> = ["me", ({ store }) => readOwnProfile(store)];

/** Contact requests in both directions, and the number of received invitations to groups. */
export type ContactRequests = { received: PersonRow[]; sent: PersonRow[]; invitations: number };

export const requestsQuery: StoreQuery<ContactRequests | undefined> = [
  "requests",
  ({ store }) => readContactRequests(store),
];
