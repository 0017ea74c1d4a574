import type { InboxRow } from "#contract/conversations.ts";
import { privateMembers } from "#contract/ids.ts";
import { deriveMentions } from "#contract/messages/mentions.ts";
import { countsAsUnread, type Message } from "#contract/messages/message.ts";
import { mergeReadStates } from "#contract/messages/positions.ts";
import { type ConversationFlags, isSameFlags, noFlags } from "#contract/settings/conversation-flags.ts";
import type { MemberReadState } from "#worker/objects/rpc/messages.ts";
import type { ConversationNotice } from "#worker/objects/rpc/notices.ts";
import { type InboxMute, noMute } from "./choices/mute.ts";
import { deriveMissedCalls } from "./missed-calls.ts";
import { isSamePinned, mergePinned } from "./pinned-list.ts";
import type { PushMark } from "./push-mark.ts";
import { isSameMentions, mergeExactMentions } from "./unread-mentions.ts";

/**
 * Inbox row with the channel's own fields. `countedUpTo`: seq up to which `unread` has counted; it can be ahead of
 * `head` if an exact count came before the messages. `membershipVersion` orders changes of `open`. `changed`: number of
 * the row's last change. `missedCalls`: seqs of unread missed calls. `pushMark`: null if no device was notified of this
 * log. `lastReadChange` and `lastArrivalChange`: numbers of the changes that last ended, or would have ended, a mark as
 * unread and an archiving. `pinnedVersion`: of the list of pinned messages, 0 if there never were any.
 */
export type InboxEntry = InboxRow & {
  countedUpTo: number;
  membershipVersion: number;
  changed: number;
  missedCalls: readonly number[];
  lastReadChange: number;
  lastArrivalChange: number;
  pinnedVersion: number;
  pushMark: PushMark | null;
};

/** Result of applying a notice to a row, and what to push to the devices. */
export type NoticeMerge = {
  entry: InboxEntry;
  /** Messages that directly follow the row, pushed in full. */
  newMessages: Message[];
  /** Messages changed since the row's revision. `isRepeated`: the notice began earlier and may hold older changes. */
  revised: (NonNullable<ConversationNotice["revised"]> & { isRepeated?: boolean }) | undefined;
  /** Whether the whole row must be pushed. */
  needsFullRow: boolean;
  isOwnReadStateChanged: boolean;
  isPeerReadStateChanged: boolean;
  /** Whether the unread count is in doubt and must be counted exactly. */
  needsRecount: boolean;
};

/** Seq up to which messages are read or cleared. */
export const seenUpTo = (row: { read: number; hidden: number }): number => Math.max(row.read, row.hidden);

const createEntry = (
  handle: number,
  notice: ConversationNotice,
  { muted, mutedUntil, mutedExceptMentions, marked, archived, pinnedAt }: InboxMute & ConversationFlags = {
    ...noMute,
    ...noFlags,
  },
): InboxEntry => ({
  handle,
  conversation: notice.conversation,
  kind: privateMembers(notice.conversation) ? "private" : "group",
  epoch: notice.epoch,
  head: 0,
  at: notice.at,
  sender: notice.sender,
  preview: null,
  whole: true,
  unread: 0,
  mentions: [],
  delivered: 0,
  read: 0,
  othersDelivered: 0,
  othersRead: 0,
  hidden: 0,
  open: false,
  muted,
  mutedUntil,
  mutedExceptMentions,
  marked,
  archived,
  pinnedAt,
  lastReadChange: 0,
  lastArrivalChange: 0,
  flagsRevision: 0,
  pinnedMessages: [],
  pinnedVersion: 0,
  kept: false,
  revision: notice.revision,
  group: notice.group,
  gone: false,
  countedUpTo: 0,
  membershipVersion: -1,
  changed: 0,
  missedCalls: [],
  pushMark: null,
});

/** Unread count after a notice, whether the notice counted exactly, and whether the count is in doubt. */
const countUnread = (
  entry: InboxEntry,
  notice: ConversationNotice,
  isContiguous: boolean,
): Pick<InboxEntry, "unread" | "countedUpTo"> & { isExact?: true; needsRecount: boolean } => {
  const { countedUpTo, unread } = entry;
  const noticeSeenUpTo = Math.max(notice.ownReadState.read, notice.hidden);
  const isBehind = seenUpTo(entry) < noticeSeenUpTo;
  const isAhead = seenUpTo(entry) > noticeSeenUpTo;
  const isLater = notice.head >= countedUpTo && notice.revision >= entry.revision;
  if (notice.unread !== undefined && !isAhead && isLater) {
    return { unread: notice.unread, countedUpTo: notice.head, isExact: true, needsRecount: false };
  }
  if (isContiguous) {
    const added = notice.messages.filter((message) => countsAsUnread(message) && message.seq > countedUpTo).length;
    return { unread: unread + added, countedUpTo: Math.max(countedUpTo, notice.head), needsRecount: isBehind };
  }
  return { unread, countedUpTo, needsRecount: isBehind || notice.head > Math.max(entry.head, countedUpTo) };
};

/** Merge without changes. */
const toUnchangedMerge = (entry: InboxEntry): NoticeMerge => ({
  entry,
  newMessages: [],
  revised: undefined,
  needsFullRow: false,
  isOwnReadStateChanged: false,
  isPeerReadStateChanged: false,
  needsRecount: false,
});

/** Row after leaving a group: nothing is kept of the group. */
const mergeLeftNotice = (before: InboxEntry, { membershipVersion, at }: ConversationNotice): NoticeMerge => ({
  ...toUnchangedMerge({
    ...before,
    membershipVersion,
    gone: true,
    open: false,
    preview: null,
    unread: 0,
    mentions: [],
    missedCalls: [],
    countedUpTo: before.head,
    ...noFlags,
    pinnedMessages: [],
    pinnedVersion: 0,
    kept: false,
    at: Math.max(before.at, at),
  }),
  needsFullRow: true,
});

/** The notice with the others' reads fixed at their current value, for a person who hides their own reads. */
export const freezePeerReads = (current: InboxEntry | undefined, notice: ConversationNotice): ConversationNotice => {
  const before = current?.epoch === notice.epoch ? current.othersRead : 0;
  return { ...notice, peerReadState: { ...notice.peerReadState, read: Math.min(notice.peerReadState.read, before) } };
};

/**
 * Merges a notice into a row. Notices may be repeated, late or out of order, and may overlap with answers. Every field
 * only advances, so all orders lead to the same row.
 */
export const mergeNotice = (
  current: InboxEntry | undefined,
  handle: number,
  notice: ConversationNotice,
): NoticeMerge => {
  const isNewRow = current === undefined || current.epoch !== notice.epoch;
  const before = isNewRow ? createEntry(handle, notice, current) : current;
  // Notices from before the person left or rejoined are obsolete.
  if (current && current.membershipVersion >= notice.membershipVersion && (current.gone || notice.gone))
    return toUnchangedMerge(current);
  if (notice.gone) return mergeLeftNotice(before, notice);
  const isHeadAdvanced = notice.head > before.head;
  const isRevised = notice.revision > before.revision;
  const isRevisionCarried = notice.revised !== undefined && notice.revised.since <= before.revision;
  const newMessages = notice.messages.filter((message) => message.seq > before.head);
  const isContiguous = newMessages[0]?.seq === before.head + 1;
  const own = mergeReadStates(before, notice.ownReadState);
  const peers = mergeReadStates({ delivered: before.othersDelivered, read: before.othersRead }, notice.peerReadState);
  const hidden = Math.max(before.hidden, notice.hidden);
  const isMembershipChanged = notice.membershipVersion > before.membershipVersion;
  const isCardNew = (notice.group?.roster ?? 0) > (before.group?.roster ?? 0);
  const { needsRecount, isExact = false, ...count } = countUnread(before, notice, isContiguous);
  // A notice is a consistent snapshot: if it is ahead in one field, it is not behind in another.
  const last = isHeadAdvanced || (isRevised && notice.head === before.head) ? notice : before;
  const entry: InboxEntry = {
    ...before,
    ...count,
    ...own,
    othersDelivered: peers.delivered,
    othersRead: peers.read,
    hidden,
    head: last.head,
    at: last.at,
    sender: last.sender,
    preview: last.head > hidden ? last.preview : null,
    whole: last.whole,
    revision: Math.max(before.revision, notice.revision),
    ...(isMembershipChanged ? { open: notice.open, gone: false, membershipVersion: notice.membershipVersion } : {}),
    group: isCardNew ? notice.group : before.group,
    ...mergePinned(before, notice),
  };
  const changedMessages = isRevisionCarried ? [...newMessages, ...(notice.revised?.messages ?? [])] : newMessages;
  const derivedMentions = deriveMentions(before.mentions, entry, changedMessages);
  entry.mentions = isExact ? mergeExactMentions(entry, notice, derivedMentions) : derivedMentions;
  entry.missedCalls = deriveMissedCalls(before.missedCalls, entry, changedMessages);
  const isOwnMoved = own.delivered !== before.delivered || own.read !== before.read;
  // Devices add pushed messages to their count; the count is pushed only if it differs from that sum.
  const expected = before.unread + (isContiguous ? newMessages.filter(countsAsUnread).length : 0);
  return {
    entry,
    // After rejoining, the row is pushed before any messages.
    newMessages: isContiguous && !isNewRow && !before.gone ? newMessages : [],
    revised:
      isRevised && isRevisionCarried
        ? {
            messages: [],
            ...notice.revised,
            since: before.revision,
            isRepeated: (notice.revised?.since ?? 0) < before.revision,
          }
        : undefined,
    needsFullRow:
      isNewRow ||
      (isHeadAdvanced && !isContiguous) ||
      isMembershipChanged ||
      isCardNew ||
      hidden !== before.hidden ||
      !isSamePinned(entry.pinnedMessages, before.pinnedMessages) ||
      !isSameMentions(entry.mentions, derivedMentions) ||
      (isRevised && !isRevisionCarried),
    isOwnReadStateChanged: isOwnMoved || entry.unread !== expected,
    isPeerReadStateChanged: peers.delivered !== before.othersDelivered || peers.read !== before.othersRead,
    needsRecount,
  };
};

/**
 * Comparison of a row before and after an answer about the person's own read state: whether anything changed, and
 * whether the whole row must be pushed.
 */
export const compareReadState = (
  before: InboxEntry,
  merged: InboxEntry,
): { hasChanged: boolean; needsFullRow: boolean } => {
  const needsFullRow =
    merged.hidden !== before.hidden ||
    merged.kept !== before.kept ||
    !isSameFlags(merged, before) ||
    !isSameMentions(merged.mentions, deriveMentions(before.mentions, merged));
  const isReadStateChanged = merged.delivered !== before.delivered || merged.read !== before.read;
  return { needsFullRow, hasChanged: needsFullRow || isReadStateChanged || merged.unread !== before.unread };
};

/** Messages that arrived during a count request, and whether another exact count overtook it. */
export type InflightCount = { seqs: number[]; isOvertaken: boolean };

/** Whether the count was made before message changes that the row already includes. */
export const isCountOutdated = (row: InboxEntry, { unread, revision }: MemberReadState): boolean =>
  unread !== undefined && revision < row.revision;

/**
 * Merges the answer to a receipt or a cleared history into a row. `inflight`: messages that arrived since the request.
 */
export const mergeReadState = (before: InboxEntry, answer: MemberReadState, inflight: InflightCount): InboxEntry => {
  if (answer.epoch !== before.epoch || before.gone) return before;
  const { unread, head } = answer;
  const hidden = Math.max(before.hidden, answer.hidden);
  const entry = {
    ...before,
    ...mergeReadStates(before, answer.ownReadState),
    hidden,
    preview: before.head > hidden ? before.preview : null,
  };
  entry.mentions = deriveMentions(before.mentions, entry);
  entry.missedCalls = deriveMissedCalls(before.missedCalls, entry);
  const isAhead = seenUpTo(before) > Math.max(answer.ownReadState.read, answer.hidden);
  if (unread === undefined || isAhead || isCountOutdated(before, answer)) return entry;
  entry.mentions = mergeExactMentions(entry, answer, entry.mentions);
  if (head >= before.countedUpTo) return { ...entry, unread, countedUpTo: head };
  if (inflight.isOvertaken) return entry;
  return { ...entry, unread: unread + inflight.seqs.filter((seq) => seq > head).length };
};
