import type { InboxRow } from "#contract/conversations.ts";
import type { GroupCard, GroupRole } from "#contract/groups.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import { previewMaxLength } from "#contract/limits/messages.ts";
import { searchResultsMax } from "#contract/limits/search.ts";
import { type StoredBody, searchTextOfBody } from "#contract/messages/body.ts";
import { isMentionOf } from "#contract/messages/mentions.ts";
import type { Message } from "#contract/messages/message.ts";
import { mergeReadStates, type ReadState } from "#contract/messages/positions.ts";
import { type ConversationFlags, noFlags } from "#contract/settings/conversation-flags.ts";
import { withoutContent } from "#contract/settings/message-flags.ts";
import { createSearchMatcher } from "#contract/text.ts";
import type { CommandOf, PageResult, RevisedResult, SearchResult } from "#contract/wire/commands.ts";
import { formatReactions } from "#contract/wire/reactions.ts";
import { createMessageMatcher } from "#contract/wire/search-filter.ts";

/** Membership in the model's conversation. A blocking member sees nothing that the others send meanwhile. */
export type LogMember = ReadState & {
  clearedUpTo: number;
  keepListed: boolean;
  muted: boolean;
  mutedUntil: number | null;
  mutedExceptMentions: boolean;
  flags: ConversationFlags;
  /** Starred messages with the time, and those that the member deleted for themselves. */
  messageFlags: { revision: number; starred: Map<number, number>; deleted: Set<number> };
  /** Changes that last ended a mark as unread, and an archiving. */
  lastReadChange: number;
  lastArrivalChange: number;
  /** Member number; messages name their sender by it. */
  number: number;
  /** Of a group. */
  role: GroupRole;
  since: number;
  /** Members version of their last change. */
  version: number;
  /** Highest read state of the others that they were sent. It never decreases, whoever joins or leaves. */
  othersReadState: ReadState;
  /** Set while blocking: end of the visible log, and the read state that the others keep seeing. */
  blocking?: { ends: number; shown: ReadState };
};

export type LogMessage = Omit<Message, "held" | "cid" | "reactions"> & {
  author: Uuid;
  /** Emoji of each person who reacted. */
  reactions?: Map<Uuid, string>;
  cid: Uuid;
  /** Revision of its last change. */
  revision: number;
  undelivered?: "now" | "for good";
  /** Texts before each edit, with the number of the edit that wrote them. */
  earlier?: { number: number; text: string }[];
};

/** Conversation of the model. */
export type Log = {
  id: ConversationId;
  epoch: string;
  open: boolean;
  revision: number;
  messages: LogMessage[];
  /** Positions of pinned messages, the one pinned last at the end. */
  pinned?: number[];
  /** Authors and client ids of pending messages that were deleted before they arrived. */
  deletedPending: Set<string>;
  members: Map<Uuid, LogMember>;
  group?: { name: string; picture: string | null; roster: number; founder: Uuid };
  /** Former members of a group, with the last row they were sent. */
  former?: Map<Uuid, { member: LogMember; gone: InboxRow }>;
};
export type GroupLog = Log & Required<Pick<Log, "group" | "former">>;

export const isGroup = (log: Log | undefined): log is GroupLog => log?.group !== undefined;

export const newMember = (number = 0): LogMember => ({
  delivered: 0,
  read: 0,
  clearedUpTo: 0,
  keepListed: false,
  muted: false,
  mutedUntil: null,
  mutedExceptMentions: false,
  flags: noFlags,
  messageFlags: { revision: 0, starred: new Map(), deleted: new Set() },
  lastReadChange: 0,
  lastArrivalChange: 0,
  number,
  othersReadState: { delivered: 0, read: 0 },
  role: "member",
  since: 0,
  version: 1,
});

const buildGroupCard = ({ group, members: marks }: Log, { role, number }: LogMember): GroupCard | null =>
  group ? { name: group.name, picture: group.picture, count: marks.size, roster: group.roster, role, number } : null;

const minOrZero = (marks: readonly number[]): number => (marks.length > 0 ? Math.min(...marks) : 0);

export const findVisibleHead = (log: Log, user: Uuid): number =>
  log.members.get(user)?.blocking?.ends ?? log.messages.length;

/** Message as one member sees it, without content if they (`me`) deleted it for themselves. Only its author gets the client id and learns that it was undelivered. */
export const toVisibleMessage = (message: LogMessage, member: Uuid, me?: LogMember): Message => {
  const visible = toReceivedMessage(message, member);
  return me?.messageFlags.deleted.has(message.seq) ? withoutContent(visible) : visible;
};

const toReceivedMessage = (message: LogMessage, member: Uuid): Message => {
  const { seq, at, sender, body, cid, author, undelivered: withheld } = message;
  const reactions = summarizeReactions(message, member);
  const fields = { seq, at, sender, ...(reactions === "" ? {} : { reactions }) };
  if (author !== member) return { ...fields, body: withheld ? { type: "withheld" } : body };
  return { ...fields, body, cid, ...(withheld === "for good" ? { held: true } : {}) };
};

/** Summary of a message's reactions as one member sees them. */
export const summarizeReactions = ({ reactions = new Map<Uuid, string>() }: LogMessage, member: Uuid): string => {
  const counts = [...new Set(reactions.values())].map((emoji) => ({
    emoji,
    count: [...reactions.values()].filter((one) => one === emoji).length,
    isOwn: reactions.get(member) === emoji,
  }));
  return formatReactions(counts.sort((a, b) => b.count - a.count));
};

/** Positions of the pinned messages, also of those that a member cleared or deleted for themselves. */
export const listPinned = ({ pinned = [] }: Log): number[] => [...pinned];

const listVisible = (log: Log, user: Uuid) => {
  const hidden = log.members.get(user)?.clearedUpTo ?? 0;
  return log.messages.filter(({ seq }) => seq > hidden && seq <= findVisibleHead(log, user));
};

const countsAsUnread = (user: Uuid) => (message: LogMessage) =>
  message.author !== user &&
  message.body.type !== "deleted" &&
  message.body.type !== "event" &&
  (message.body.type !== "call" || message.body.status === "missed") &&
  message.undelivered === undefined;

const truncateText = (body: StoredBody): StoredBody =>
  "text" in body && body.text !== undefined ? { ...body, text: body.text.slice(0, previewMaxLength) } : body;

/** Inbox row of a member. */
export const buildInboxRow = (log: Log, user: Uuid, handle: number): InboxRow => {
  const gone = log.former?.get(user)?.gone;
  if (gone) return { ...gone, handle };
  const me = log.members.get(user) ?? newMember();
  const others = [...log.members].filter(([member]) => member !== user).map(([, it]) => it.blocking?.shown ?? it);
  me.othersReadState = mergeReadStates(me.othersReadState, {
    delivered: minOrZero(others.map(({ delivered }) => delivered)),
    read: minOrZero(others.map(({ read }) => read)),
  });
  const head = findVisibleHead(log, user);
  const message = log.messages[head - 1];
  const last = message && toVisibleMessage(message, user, me);
  const preview = last && head > me.clearedUpTo ? truncateText(last.body) : null;
  const from = Math.max(me.read, me.clearedUpTo);
  return {
    handle,
    conversation: log.id,
    kind: log.group ? "group" : "private",
    group: buildGroupCard(log, me),
    gone: false,
    epoch: log.epoch,
    head,
    at: last?.at ?? 1,
    sender: last?.sender ?? 0,
    preview,
    whole: !last || searchTextOfBody(last.body).length <= previewMaxLength,
    unread: listVisible(log, user).filter((one) => one.seq > from && countsAsUnread(user)(one)).length,
    mentions: listVisible(log, user).flatMap(({ seq, author, body }) =>
      seq > from && author !== user && isMentionOf(body, me.number) ? seq : [],
    ),
    delivered: me.delivered,
    read: me.read,
    othersDelivered: me.othersReadState.delivered,
    othersRead: me.othersReadState.read,
    hidden: me.clearedUpTo,
    open: log.open,
    muted: me.muted,
    mutedUntil: me.mutedUntil,
    mutedExceptMentions: me.mutedExceptMentions,
    ...me.flags,
    flagsRevision: me.messageFlags.revision,
    kept: me.keepListed,
    revision: log.revision,
    pinnedMessages: listPinned(log),
  };
};

export const readLogPage = (log: Log, user: Uuid, command: CommandOf<"page">, rowsMax: number): PageResult => {
  const { direction, seq, limit } = command;
  const seen = listVisible(log, user);
  const found =
    direction === "after"
      ? seen.filter((message) => message.seq > seq)
      : seen.filter((message) => message.seq < seq).reverse();
  const rows = found.slice(0, Math.min(limit, rowsMax));
  const messages = rows.map((message) => toVisibleMessage(message, user, log.members.get(user)));
  return { epoch: log.epoch, head: findVisibleHead(log, user), messages, more: found.length > rows.length };
};

/** Messages changed after a revision, oldest change first, each once and in its present form. */
export const listRevised = (log: Log, user: Uuid, since: number, rowsMax: number): RevisedResult => {
  const found = listVisible(log, user).filter(({ revision }) => revision > since);
  found.sort((a, b) => a.revision - b.revision);
  const rows = found.slice(0, rowsMax);
  const more = found.length > rows.length;
  const revision = more ? (rows.at(-1)?.revision ?? since) : log.revision;
  return {
    epoch: log.epoch,
    revision,
    messages: rows.map((message) => toVisibleMessage(message, user, log.members.get(user))),
    more,
  };
};

export const searchLog = (log: Log, user: Uuid, { query, filter, before }: CommandOf<"search">): SearchResult => {
  const isMatch = createMessageMatcher(query === "" ? undefined : createSearchMatcher(query), filter);
  const found = listVisible(log, user).filter(
    (message) => message.seq < before && isMatch(toVisibleMessage(message, user, log.members.get(user))),
  );
  const page = found.reverse().slice(0, searchResultsMax);
  const last = found.length > page.length ? (page.at(-1)?.seq ?? null) : null;
  return { messages: page.map((message) => toVisibleMessage(message, user, log.members.get(user))), before: last };
};
