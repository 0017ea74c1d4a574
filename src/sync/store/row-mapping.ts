import { type InboxRow, isListed, type Message, mergeReadStates, type StoredBody } from "#contract/conversations.ts";
import { type ConversationId, otherMember, privateMembers, type Uuid } from "#contract/ids.ts";
import { previewMaxLength } from "#contract/limits.ts";
import type { Profile, Relation } from "#contract/people.ts";
import type { LocalConversationRow, LocalMessageRow, PersonRow } from "./database.ts";

/** The pure half of taking in what the server says: rows in, rows out. */

/** A conversation, as far as it says which member I am. */
type OwnMembership = Pick<LocalConversationRow, "id" | "group">;

/** My member number: in a private conversation by its name, in a group as the server told it. */
const findOwnNumber = ({ id, group }: OwnMembership, me: Uuid): number | undefined => {
  const number = group?.number ?? privateMembers(id)?.indexOf(me) ?? -1;
  return number < 0 ? undefined : number;
};

/** The other's member number in a private conversation. */
export const toPeerNumber = (id: ConversationId, me: Uuid): number => 1 - (findOwnNumber({ id, group: null }, me) ?? 0);

export const isOwnMessage = (
  place: OwnMembership,
  me: Uuid,
  message: { sender: number; cid?: Uuid | undefined },
): boolean => message.cid !== undefined || message.sender === findOwnNumber(place, me);

/** My own message as the log will have it, once its place is known. */
export const toOwnMessage = (
  place: OwnMembership,
  me: Uuid,
  { cid, seq, at, body }: { cid: Uuid; seq: number; at: number; body: StoredBody },
): Message => ({ cid, seq, at, body, sender: findOwnNumber(place, me) ?? 0 });

/** A message that came by itself or on a page: those that are mine say so by their client id. */
export const toLocalMessageRow = (place: OwnMembership, me: Uuid, message: Message): LocalMessageRow => ({
  conversation: place.id,
  ...message,
  mine: isOwnMessage(place, me, message) ? 1 : 0,
});

export const toPersonRow = ({ profile, ...relation }: Relation): PersonRow => ({
  ...toUnrelatedPersonRow(profile),
  state: relation.state,
  requestId: relation.request_id,
  connectionId: relation.connection_id,
  since: relation.since,
  blocked: relation.blocked ? 1 : 0,
});

export const toUnrelatedPersonRow = (profile: Profile): PersonRow => ({
  id: profile.id,
  username: profile.username,
  phone: profile.phone,
  avatar: profile.avatar_url,
  createdAt: profile.created_at,
  state: "none",
  requestId: null,
  connectionId: null,
  since: 0,
  blocked: 0,
  ...(profile.deleted ? { deleted: 1 } : {}),
});

/** A conversation this device has heard nothing of: nothing in it, nothing held. */
export const createConversationRow = (id: ConversationId, me: Uuid): LocalConversationRow => ({
  id,
  peer: otherMember(id, me),
  kind: privateMembers(id) ? "private" : "group",
  epoch: "",
  head: 0,
  at: 0,
  prior: null,
  sender: 0,
  preview: null,
  whole: false,
  unread: 0,
  delivered: 0,
  read: 0,
  othersDelivered: 0,
  othersRead: 0,
  hidden: 0,
  open: true,
  muted: false,
  kept: false,
  revision: 0,
  group: null,
  gone: false,
  revised: 0,
  counted: 0,
  lo: 1,
  hi: 0,
  wantDelivered: 0,
  wantRead: 0,
  listed: 0,
  lastAt: 0,
});

/** The same conversation after its log was recreated: everything learned of the old one is void. */
export const resetConversationRow = (row: LocalConversationRow, me: Uuid, epoch: string): LocalConversationRow => {
  const { handle, open, muted, kept, at, listed, lastAt, gone } = row;
  // What the server says of a group next is newer than what was known of it, whatever its roster.
  const group = row.group && { ...row.group, roster: 0 };
  const same = { epoch, open, muted, kept, at, listed, lastAt, gone, group };
  return { ...createConversationRow(row.id, me), ...same, ...(handle === undefined ? {} : { handle }) };
};

const truncatePreview = (body: StoredBody): Pick<LocalConversationRow, "preview" | "whole"> =>
  "text" in body && body.text !== undefined && body.text.length > previewMaxLength
    ? { preview: { ...body, text: body.text.slice(0, previewMaxLength) }, whole: false }
    : { preview: body, whole: true };

/** What is told and said by nobody: a line of a group, a call. It has no ticks and is not passed on. */
export const isSystemMessage = (body: StoredBody): boolean => body.type === "event" || body.type === "call";

/** What is gone, or was never let through, has no words, counts for nothing and never comes back. */
export const isTombstone = (body: StoredBody): boolean => body.type === "deleted" || body.type === "withheld";

/** Raises a row's head by a message; one that is the head already refreshes what is shown of it. */
export const raiseHead = (row: LocalConversationRow, message: Message): void => {
  if (message.seq < row.head) return;
  if (message.held) row.heldSeq = message.seq;
  Object.assign(row, { head: message.seq, at: message.at, sender: message.sender, ...truncatePreview(message.body) });
};

/** Whether what a row counts can be told from what is known here: nothing in it is older. */
export const isCountCurrent = (row: LocalConversationRow, inbox: InboxRow): boolean =>
  inbox.read >= row.read && inbox.hidden >= row.hidden && inbox.revision >= row.revision;

/** Takes in the server's row of the same epoch but its count. An older one, overtaken on its way, adds its marks only. */
export const mergeInboxRow = (row: LocalConversationRow, inbox: InboxRow): void => {
  const { conversation: _, head, at, sender, preview, whole, unread: _count, revision, group, ...rest } = inbox;
  const mine = mergeReadStates(row, inbox);
  const others = mergeReadStates(
    { delivered: row.othersDelivered, read: row.othersRead },
    { delivered: inbox.othersDelivered, read: inbox.othersRead },
  );
  const hidden = Math.max(row.hidden, inbox.hidden);
  if (head >= row.head) Object.assign(row, { head, at, sender, preview, whole });
  row.revision = Math.max(row.revision, revision);
  // What is told of a group that is gone may be less than what is known of it.
  if (group && group.roster >= (row.group?.roster ?? 0)) row.group = group;
  row.told = (row.told ?? 0) + 1;
  Object.assign(row, rest, mine, { othersDelivered: others.delivered, othersRead: others.read, hidden });
};

/** What is hidden is neither held nor missing. */
export const skipCleared = (row: LocalConversationRow): void => {
  row.hi = Math.max(row.hi, row.hidden);
  row.lo = Math.max(row.lo, row.hidden + 1);
};

/** Marks as the server has them, where it may know of less than this device: what it lacks it is told again. */
export const adoptServerReadState = (row: LocalConversationRow, inbox: InboxRow): void => {
  row.wantDelivered = Math.max(row.wantDelivered, row.delivered);
  row.wantRead = Math.max(row.wantRead, row.read);
  const { delivered, read, othersDelivered, othersRead } = inbox;
  Object.assign(row, { delivered, read, othersDelivered, othersRead });
};

export const raisePeerReadState = (row: LocalConversationRow, delivered: number, read: number): void => {
  const others = mergeReadStates({ delivered: row.othersDelivered, read: row.othersRead }, { delivered, read });
  row.othersDelivered = others.delivered;
  row.othersRead = others.read;
};

/** Where a row stands in the list, given the time of its newest unsent message. Of what is gone only that, or what was begun, keeps it there. */
export const setListPosition = (row: LocalConversationRow, unsentAt: number | undefined, hasBegun = false): void => {
  row.listed = isListed(row) || unsentAt !== undefined || hasBegun ? 1 : 0;
  row.lastAt = Math.max(row.at, unsentAt ?? 0);
};

/** The number beside the list entry: what this device has shown counts as read before the server confirms. */
export const toDisplayedUnread = (row: LocalConversationRow): number =>
  row.wantRead > row.read && row.wantRead >= row.wantDelivered && row.hi >= row.head ? 0 : row.unread;

export const toOwnReadState = (row: LocalConversationRow): { delivered: number; read: number } =>
  mergeReadStates(row, { delivered: row.wantDelivered, read: row.wantRead });
