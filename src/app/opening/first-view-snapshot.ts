import { findConversation } from "#app/paths.ts";
import { toAvatarPerson } from "#components/people/avatar-text.ts";
import { toDisplayName } from "#components/people/person-name.ts";
import { type ConversationId, otherMember } from "#contract/ids.ts";
import { toUnreadTotal } from "#contract/settings/conversation-flags.ts";
import { drawnCounts, renderFirstView } from "#first-view/first-view.ts";
import { listMembersOfMessages } from "#first-view/message-view.ts";
import type { ChatViewData, FirstViewData, ListView } from "#first-view/view-data.ts";
import { getLanguage } from "#i18n/current-language.ts";
import { t } from "#i18n/setup.ts";
import { type FirstViewSnapshot, saveFirstViews } from "#lib/browser/first-view-cache.ts";
import { getServerNow } from "#lib/browser/time/clock.ts";
import { type ClientSession, getConfirmationTime, getSession } from "#lib/session/session.ts";
import { currentEngine } from "#sync/engine/engine.ts";
import { readChat } from "#sync/queries/chat-messages.ts";
import { readConversation } from "#sync/queries/conversation.ts";
import { countArchived, readConversations } from "#sync/queries/conversation-list.ts";
import { readContactRequests } from "#sync/queries/people.ts";
import { readMemberProfiles } from "#sync/store/members.ts";
import { readOwnProfile } from "#sync/store/own-profile-row.ts";
import { readSettings, toEffectiveSettings } from "#sync/store/settings-rows.ts";
import type { SyncContext } from "#sync/store/sync-context.ts";

/** Saves what the list and the open chat show, so that the next start shows it before the app has loaded. */

const countedRows = 100; // as the app counts them

const readList = async (context: SyncContext): Promise<ListView | undefined> => {
  const { store } = context;
  const conversations = await readConversations(context, countedRows);
  if (!conversations || conversations.length === 0) return undefined;
  const [profile, requests, settings, archivedCount] = await Promise.all([
    readOwnProfile(store),
    readContactRequests(store),
    readSettings(context),
    countArchived(store),
  ]);
  return {
    type: "list",
    me: profile ?? undefined,
    entries: conversations.slice(0, drawnCounts.rows),
    archivedCount,
    marks: {
      unread: toUnreadTotal(conversations),
      received: requests ? requests.received.length + requests.invitations : 0,
    },
    hasTala: toEffectiveSettings(settings).tala,
    now: getServerNow(),
  };
};

const readOpenChat = async (context: SyncContext, conversation: ConversationId): Promise<ChatViewData | undefined> => {
  const { store, me } = context;
  const view = await readConversation(context, conversation);
  const { isStored, gone, open, blocked, muted, group, person } = view;
  const peer = otherMember(conversation, me);
  // A chat with a notice instead of messages or composer is left to the app.
  if (!isStored || gone || !open || blocked || person?.deleted || (peer !== undefined && !person)) return undefined;
  const { items, hasMoreLocally, hasMoreOnServer } = await readChat(context, conversation, drawnCounts.messages);
  if (items.length === 0) return undefined;
  const members = group && {
    ownNumber: group.number,
    profiles: await readMemberProfiles(store, me, conversation, listMembersOfMessages(items)),
  };
  return {
    type: "chat",
    me,
    conversation,
    peer,
    person: person ?? toAvatarPerson({ name: group?.name ?? "", picture: group?.picture ?? null }, conversation),
    name: group?.name ?? toDisplayName(person, t),
    isMuted: muted,
    memberCount: group?.count,
    members: members ?? undefined,
    messages: items,
    thumbs: new Set(items.filter(({ body }) => body.type === "image").slice(0, drawnCounts.thumbs)),
    hasOlder: hasMoreLocally || hasMoreOnServer,
    pinned: view.pinnedMessages.at(-1),
    now: getServerNow(),
    shiftMs: 0,
  };
};

const toSnapshot = (view: FirstViewData, session: ClientSession): FirstViewSnapshot => ({
  user: session.userId,
  confirmedAt: getConfirmationTime(session),
  language: getLanguage(),
  view: renderFirstView(view, t).html,
  conversation: view.type === "chat" ? view.conversation : undefined,
  day: new Date().toDateString(),
});

let lastChatPath: string | undefined;

/** Saves the list and the chat that is open or was open last. Nothing remains of a person who signs out meanwhile. */
export const saveSnapshots = async (path = location.pathname): Promise<void> => {
  const context = currentEngine.get()?.client.context.get();
  if (!context || getSession()?.userId !== context.me) return;
  if (findConversation(path, context.me) !== undefined) lastChatPath = path;
  const conversation = lastChatPath && findConversation(lastChatPath, context.me);
  await saveFirstViews(async () => {
    const [list, chat] = await Promise.all([
      readList(context),
      conversation === undefined ? undefined : readOpenChat(context, conversation),
    ]);
    const session = getSession();
    if (session?.userId !== context.me) return undefined;
    const snapshots = new Map<string, FirstViewSnapshot>();
    if (list) snapshots.set("/app", toSnapshot(list, session));
    if (chat && lastChatPath) snapshots.set(lastChatPath, toSnapshot(chat, session));
    return snapshots;
  });
};
