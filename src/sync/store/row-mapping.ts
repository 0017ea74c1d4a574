import { type InboxRow, isListed } from "#contract/conversations.ts";
import { type ConversationId, otherMember, privateMembers, type Uuid } from "#contract/ids.ts";
import type { StoredBody } from "#contract/messages/body.ts";
import { deriveMentions } from "#contract/messages/mentions.ts";
import type { Message } from "#contract/messages/message.ts";
import { mergeReadStates } from "#contract/messages/positions.ts";
import type { Profile, Relation } from "#contract/people.ts";
import { applyFlagChange, type ConversationFlags, noFlags } from "#contract/settings/conversation-flags.ts";
import { toPreview } from "#contract/wire/preview.ts";
import {
  type ListSection,
  type LocalConversationRow,
  type LocalMessageRow,
  listSections,
  type PersonRow,
} from "./database.ts";

/** Pure conversions between server data and local rows. */

/** Fields of a conversation that identify this person's member number. */
type OwnMembership = Pick<LocalConversationRow, "id" | "group">;

/** This person's member number: derived from the id of a private conversation, received from the server for a group. */
export const findOwnNumber = ({ id, group }: OwnMembership, me: Uuid): number | undefined => {
  const number = group?.number ?? privateMembers(id)?.indexOf(me) ?? -1;
  return number < 0 ? undefined : number;
};

/** Member number of the other person in a private conversation. */
export const toPeerNumber = (id: ConversationId, me: Uuid): number => 1 - (findOwnNumber({ id, group: null }, me) ?? 0);

export const isOwnMessage = (
  conversation: OwnMembership,
  me: Uuid,
  message: { sender: number; cid?: Uuid | undefined },
): boolean => message.cid !== undefined || message.sender === findOwnNumber(conversation, me);

/** The message without its reactions, as a deleted one. */
export const withoutReactions = <T extends Pick<Message, "reactions">>({ reactions: _, ...message }: T) => message;

/** Own message in its log form, once its sequence number is known. */
export const toOwnMessage = (
  conversation: OwnMembership,
  me: Uuid,
  { cid, seq, at, body }: { cid: Uuid; seq: number; at: number; body: StoredBody },
): Message => ({ cid, seq, at, body, sender: findOwnNumber(conversation, me) ?? 0 });

/** Row of a received message. An own one is recognized by its client id or by its sender. */
export const toLocalMessageRow = (conversation: OwnMembership, me: Uuid, message: Message): LocalMessageRow => ({
  conversation: conversation.id,
  ...message,
  mine: isOwnMessage(conversation, me, message) ? 1 : 0,
});

/** Key of a message, the same in all lists. */
export const toMessageKey = ({ cid, seq }: { cid?: Uuid | undefined; seq: number }): string => cid ?? `#${seq}`;

export const toPersonRow = ({ profile, ...relation }: Relation): PersonRow => ({
  ...toUnrelatedPersonRow(profile),
  state: relation.state,
  requestId: relation.request_id,
  connectionId: relation.connection_id,
  since: relation.since,
  blocked: relation.blocked ? 1 : 0,
  ...(relation.number_notice ? { numberNotice: relation.number_notice } : {}),
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

/** Empty row of a conversation not received from the server yet. */
export const createConversationRow = (id: ConversationId, me: Uuid): LocalConversationRow => ({
  id,
  peer: otherMember(id, me),
  kind: privateMembers(id) ? "private" : "group",
  epoch: "",
  head: 0,
  at: 0,
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
  mutedUntil: null,
  kept: false,
  revision: 0,
  group: null,
  gone: false,
  revised: 0,
  unreadCountedUpTo: 0,
  storedFrom: 1,
  storedTo: 0,
  wantDelivered: 0,
  wantRead: 0,
  listed: 0,
  lastAt: 0,
});

/** Row of a conversation whose log was recreated: state of the old log is discarded. */
export const resetConversationRow = (row: LocalConversationRow, me: Uuid, epoch: string): LocalConversationRow => {
  const { handle, open, muted, mutedUntil, mutedExceptMentions = false, kept, at, listed, lastAt, gone } = row;
  // The next group card replaces the stored one, whatever its members version (`roster`).
  const group = row.group && { ...row.group, roster: 0 };
  const carriedOver = { epoch, open, muted, mutedUntil, mutedExceptMentions, kept, at, listed, lastAt, gone, group };
  const { marked = false, archived = false, pinnedAt = null, wanted } = row;
  return {
    ...createConversationRow(row.id, me),
    ...carriedOver,
    ...{ marked, archived, pinnedAt },
    ...(wanted ? { wanted } : {}),
    ...(handle === undefined ? {} : { handle }),
  };
};

/** Raises the row's head to a message. A message that is the head already refreshes the preview. */
export const raiseHead = (row: LocalConversationRow, message: Message): void => {
  if (message.seq < row.head) return;
  if (message.held) row.heldSeq = message.seq;
  Object.assign(row, { head: message.seq, at: message.at, sender: message.sender, ...toPreview(message.body) });
};

/** Updates the unread mentions of a row after messages were added or changed, or more was read. */
export const updateMentions = (row: LocalConversationRow, messages: readonly Message[] = []): void => {
  row.mentions = deriveMentions(row.mentions ?? [], row, messages);
};

/**
 * Whether the unread count of an inbox row is current: its read position, cleared position and revision are not older
 * than the stored ones.
 */
export const isCountCurrent = (row: LocalConversationRow, inbox: InboxRow): boolean =>
  inbox.read >= row.read && inbox.hidden >= row.hidden && inbox.revision >= row.revision;

/**
 * Merges an inbox row of the same epoch, except its unread count. A row with a lower head leaves head and preview
 * unchanged.
 */
export const mergeInboxRow = (row: LocalConversationRow, inbox: InboxRow): void => {
  const {
    conversation: _,
    head,
    at,
    sender,
    preview,
    whole,
    unread: _count,
    revision,
    group,
    mentions,
    ...rest
  } = inbox;
  const mine = mergeReadStates(row, inbox);
  const others = mergeReadStates(
    { delivered: row.othersDelivered, read: row.othersRead },
    { delivered: inbox.othersDelivered, read: inbox.othersRead },
  );
  const hidden = Math.max(row.hidden, inbox.hidden);
  // The row may not know messages that this device has.
  const later = row.mentions?.filter((seq) => seq > head) ?? [];
  if (revision >= row.revision) row.mentions = [...mentions, ...later];
  if (head >= row.head) Object.assign(row, { head, at, sender, preview, whole });
  row.revision = Math.max(row.revision, revision);
  // The card of a left group may be older than the stored one.
  if (group && group.roster >= (row.group?.roster ?? 0)) row.group = group;
  Object.assign(row, rest, mine, { othersDelivered: others.delivered, othersRead: others.read, hidden });
  updateMentions(row);
};

/** Excludes cleared history from the stored range: it is neither stored nor missing. */
export const skipCleared = (row: LocalConversationRow): void => {
  row.storedTo = Math.max(row.storedTo, row.hidden);
  row.storedFrom = Math.max(row.storedFrom, row.hidden + 1);
};

export const raisePeerReadState = (row: LocalConversationRow, delivered: number, read: number): void => {
  const others = mergeReadStates({ delivered: row.othersDelivered, read: row.othersRead }, { delivered, read });
  row.othersDelivered = others.delivered;
  row.othersRead = others.read;
};

/** Flags that this person sees: the server's, with the choices that it has not confirmed. */
export const toEffectiveFlags = ({ gone, wanted, ...row }: LocalConversationRow): ConversationFlags => {
  const { marked = false, archived = false, pinnedAt = null } = row; // absent in rows of earlier versions
  if (gone) return noFlags;
  return wanted ? applyFlagChange({ marked, archived, pinnedAt }, wanted, wanted.at) : { marked, archived, pinnedAt };
};

/** Part of the list in which a row stands if it is listed. */
export const toListSection = (row: LocalConversationRow): ListSection => {
  const { archived, pinnedAt } = toEffectiveFlags(row);
  return archived ? listSections.archived : pinnedAt === null ? listSections.main : listSections.pinned;
};

/** Sets whether and where a row is listed, apart from its unsent data. */
export const setListPosition = (row: LocalConversationRow): void => {
  row.listed = isListed(row) ? toListSection(row) : listSections.none;
  row.lastAt = row.at;
};

/** Unread badge of a conversation: 0 as soon as everything was read on this device, before the server confirms it. */
export const toDisplayedUnread = (row: LocalConversationRow): number =>
  row.wantRead > row.read && row.wantRead >= row.wantDelivered && row.storedTo >= row.head ? 0 : row.unread;

/** Unread mentions, without those that were read on this device before the server confirms it. */
export const toDisplayedMentions = ({ mentions = [], wantRead }: LocalConversationRow): number[] =>
  mentions.filter((seq) => seq > wantRead);

export const toOwnReadState = (row: LocalConversationRow): { delivered: number; read: number } =>
  mergeReadStates(row, { delivered: row.wantDelivered, read: row.wantRead });

/** Whether the server has older messages than the stored ones. */
export const hasOlderOnServer = (row: LocalConversationRow): boolean =>
  row.storedFrom <= row.storedTo ? row.storedFrom > row.hidden + 1 : row.head > row.hidden;
