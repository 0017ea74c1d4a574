import { type InboxRow, isListed } from "#contract/conversations.ts";
import { type ConversationId, otherMember, privateConversationId, privateMembers, type Uuid } from "#contract/ids.ts";
import { isSystemMessage } from "#contract/messages/kinds.ts";
import type { Message } from "#contract/messages/message.ts";
import { toMessageStatus } from "#contract/messages/status.ts";
import type { Profile, Relation } from "#contract/people.ts";
import { toUnreadTotal } from "#contract/settings/conversation-flags.ts";
import { type CommandOf, type CommandResults, isRefusal, type Refusal } from "#contract/wire/commands.ts";
import type { DocumentData } from "#contract/wire/document/document-data.ts";
import { drawnCounts, toWallClock } from "#first-view/first-view.ts";
import { listMembersOfMessages } from "#first-view/message-view.ts";
import type { ChatEntry, ChatViewData, FirstViewData, ListEntry, MemberEntry } from "#first-view/view-data.ts";
import { openDb } from "#worker/db/client.ts";
import { findOwnProfile } from "#worker/db/visible-profiles.ts";
import { toMemberPage } from "#worker/groups/queries.ts";
import type { Caller } from "#worker/lib/http/app.ts";
import { getConversationStub, getUserChannelStub } from "#worker/objects/stubs.ts";

/** Reads what a document of the app shows first, from the person's own objects. */

const embeddedMessages = 24;
const groupsWithNames = 6; // groups of the list whose last sender is named
const beyondNewestSeq = Number.MAX_SAFE_INTEGER;

export type DocumentPath = { type: "list" } | { type: "chat"; conversation: ConversationId };
export type DocumentView = { view: FirstViewData | undefined; data: DocumentData };

type Reader = { env: Env; caller: Caller; timeZone: string };

/** Path of a document with a first view: the list or a chat. */
export const parseDocumentPath = (pathname: string, me: Uuid): DocumentPath | undefined => {
  if (pathname === "/app" || pathname === "/app/") return { type: "list" };
  const [, kind, id = ""] = /^\/app\/(chat|group)\/([0-9a-f-]{36})\/?$/.exec(pathname) ?? [];
  if (kind === undefined || id === me) return undefined;
  return { type: "chat", conversation: kind === "chat" ? privateConversationId(me, id) : id };
};

const execute = async <T extends "changes" | "page">(
  { env, caller: { user, session } }: Reader,
  command: CommandOf<T>,
): Promise<CommandResults[T] | undefined> => {
  const result: CommandResults[T] | Refusal = await getUserChannelStub(env, user).execute<T>(command, session);
  return isRefusal(result) ? undefined : result;
};

const readMembers = async ({ env, caller: { user } }: Reader, group: Uuid, numbers: number[]) => {
  if (numbers.length === 0) return undefined;
  const entries = await getConversationStub(env, group).listMembers(user, { numbers });
  return isRefusal(entries) ? undefined : toMemberPage(openDb(env), user, entries);
};

const toPerson = ({ username, phone, avatar_url, deleted }: Profile) => ({
  username,
  phone,
  avatar: avatar_url,
  ...(deleted ? { deleted: 1 as const } : {}),
});

type MemberPageOf = NonNullable<Awaited<ReturnType<typeof readMembers>>>;

const toMemberEntries = (page: MemberPageOf | undefined): Record<number, MemberEntry> =>
  Object.fromEntries(
    (page?.members ?? []).map(({ number, profile }) => [
      number,
      {
        user: profile?.id ?? "",
        name: profile?.username ?? "",
        avatar: profile?.avatar_url ?? null,
        phone: profile?.phone ?? "",
      },
    ]),
  );

const getOwnNumber = ({ conversation, group }: InboxRow, me: Uuid): number =>
  group?.number ?? privateMembers(conversation)?.indexOf(me) ?? -1;

const toOthers = ({ othersDelivered, othersRead }: InboxRow) => ({ delivered: othersDelivered, read: othersRead });

/** Row of the list. Nothing is said about a message that was withheld from this person. */
const toListEntry = (row: InboxRow, relation: Relation | undefined, { caller: { user }, timeZone }: Reader) => {
  const { conversation, kind, head, hidden, sender, preview, group, unread, mentions, muted, at } = row;
  const mine = head > 0 && sender === getOwnNumber(row, user);
  const body = preview?.type === "withheld" ? undefined : head > hidden ? preview : null;
  const hasStatus = mine && body && !isSystemMessage(body);
  return {
    id: conversation,
    kind,
    peer: otherMember(conversation, user),
    person: relation && { ...toPerson(relation.profile), blocked: relation.blocked ? 1 : 0 },
    group,
    memberProfiles: {},
    unread,
    mentions,
    muted,
    mutedExceptMentions: row.mutedExceptMentions,
    marked: row.marked,
    pinned: row.pinnedAt !== null,
    at: toWallClock(at, timeZone),
    last: { body, mine, sender, ...(hasStatus ? { status: toMessageStatus(head, toOthers(row)) } : {}) },
  } satisfies ListEntry;
};

/** Pinned conversations in the order of pinning, then the newest, as the app (src/sync/queries/conversation-list.ts). */
const compareListed = (a: InboxRow, b: InboxRow): number =>
  (a.pinnedAt ?? Number.POSITIVE_INFINITY) - (b.pinnedAt ?? Number.POSITIVE_INFINITY) || b.at - a.at;

/** The list, unless it is empty: the app shows then what to do first. */
const readListView = async (reader: Reader, data: DocumentData): Promise<FirstViewData | undefined> => {
  const { changes, profile } = data;
  const relations = new Map(changes.people.map((relation) => [relation.profile.id, relation]));
  const all = changes.rows.filter(isListed);
  const listed = all.filter(({ archived }) => !archived).sort(compareListed);
  if (listed.length === 0) return undefined;
  const archivedCount = all.length - listed.length;
  const rows = listed.slice(0, drawnCounts.rows);
  const isComplete = changes.before === null;
  const entries: ListEntry[] = rows.map((row) =>
    toListEntry(row, relations.get(otherMember(row.conversation, reader.caller.user) ?? ""), reader),
  );
  const groups = entries.filter(({ group, last }) => group && !last.mine && last.sender !== undefined);
  await Promise.all(
    groups.slice(0, groupsWithNames).map(async (entry) => {
      const numbers = listMembersOfMessages([entry.last]);
      entry.memberProfiles = toMemberEntries(await readMembers(reader, entry.id, numbers));
    }),
  );
  return {
    type: "list",
    me: profile ? toPerson(profile) : undefined,
    entries,
    archivedCount: isComplete ? archivedCount : archivedCount && null,
    marks: isComplete
      ? {
          unread: toUnreadTotal(listed),
          received: changes.people.filter(({ state }) => state === "received").length,
        }
      : undefined,
    hasTala: changes.settings?.settings.tala ?? true,
    now: toWallClock(changes.now, reader.timeZone),
  };
};

const toChatEntry = (message: Message, row: InboxRow, { caller: { user }, timeZone }: Reader): ChatEntry => ({
  seq: message.seq,
  mine: message.cid !== undefined || message.sender === getOwnNumber(row, user),
  sender: message.sender,
  at: toWallClock(message.at, timeZone),
  body: message.body,
  status: toMessageStatus(message.seq, toOthers(row), message.held),
});

const readChatView = async (reader: Reader, data: DocumentData): Promise<ChatViewData | undefined> => {
  const { page, changes } = data;
  const row = changes.rows.find(({ conversation }) => conversation === page?.conversation);
  if (!page || !row || row.gone) return undefined;
  const { caller, timeZone } = reader;
  const peer = otherMember(row.conversation, caller.user);
  const relation = changes.people.find(({ profile }) => profile.id === peer);
  if (peer !== undefined && !relation) return undefined;
  const messages = page.result.messages
    .filter(({ body }) => body.type !== "withheld")
    .map((message) => toChatEntry(message, row, reader));
  // A chat with a notice instead of messages or composer is left to the app.
  const isUnconfirmed = relation?.number_notice === "left";
  const isPlain = messages.length > 0 && row.open && !relation?.blocked && !isUnconfirmed && !relation?.profile.deleted;
  if (!isPlain) return undefined;
  const drawn = messages.slice(0, drawnCounts.messages);
  const members = row.group && (await readMembers(reader, row.conversation, listMembersOfMessages(drawn)));
  if (members) data.members = { group: row.conversation, page: members };
  const person = relation ? toPerson(relation.profile) : undefined;
  const now = toWallClock(changes.now, timeZone);
  return {
    type: "chat",
    me: caller.user,
    conversation: row.conversation,
    peer,
    person: person ?? {
      username: row.group?.name ?? "",
      phone: "",
      avatar: row.group?.picture ?? null,
      groupId: row.conversation,
    },
    name: row.group?.name ?? person?.username ?? "",
    isMuted: row.muted,
    memberCount: row.group?.count,
    members: row.group ? { ownNumber: row.group.number, profiles: toMemberEntries(members ?? undefined) } : undefined,
    messages: drawn,
    thumbs: new Set(drawn.filter(({ body }) => body.type === "image").slice(0, drawnCounts.thumbs)),
    hasOlder: page.result.more || messages.length > drawn.length,
    pinned: findNewestPinned(row),
    now,
    shiftMs: now - changes.now,
  };
};

/** The message pinned last, without those that this person cleared. */
const findNewestPinned = ({ hidden, pinnedMessages }: InboxRow): number | undefined =>
  pinnedMessages.findLast((seq) => seq > hidden);

/** First view of a path and the data to embed; undefined if the person's objects refuse it. */
export const readDocumentView = async (reader: Reader, path: DocumentPath): Promise<DocumentView | undefined> => {
  const { env, caller } = reader;
  const [changes, profile] = await Promise.all([
    execute<"changes">(reader, { type: "changes", since: 0 }),
    findOwnProfile(openDb(env), caller.user),
  ]);
  if (!changes) return undefined;
  const data: DocumentData = { user: caller.user, profile: profile ?? null, changes };
  if (path.type === "list") return { view: await readListView(reader, data), data };
  // After the inbox, so that the page contains every revision that the inbox row counts.
  const page = await execute<"page">(reader, {
    type: "page",
    conversation: path.conversation,
    direction: "before",
    seq: beyondNewestSeq,
    limit: embeddedMessages,
  });
  if (!page) return { view: undefined, data };
  data.page = { conversation: path.conversation, result: page };
  return { view: await readChatView(reader, data), data };
};
