import { countsAsUnread, type InboxRow, type Message, mergeReadStates } from "#contract/conversations.ts";
import { privateMembers } from "#contract/ids.ts";
import type { ConversationNotice, MemberReadState } from "#worker/objects/rpc.ts";

/**
 * An inbox row with what the channel keeps for itself: `counted` is the place up to which `unread` has
 * counted (it can be ahead of `head` when an exact count came before the messages), `turn` orders changes of
 * `open`, `changed` is the row's number in the person's counter.
 */
export type InboxEntry = InboxRow & { countedUpTo: number; membershipVersion: number; changed: number };

/** What a notice makes of a row, and what the person's devices have to be told of it. */
export type NoticeMerge = {
  entry: InboxEntry;
  /** Messages that continue the row: they are pushed whole. */
  newMessages: Message[];
  /** Messages that were changed since the row's revision. */
  revised: ConversationNotice["revised"];
  /** The row has to be told as a whole. */
  needsFullRow: boolean;
  isOwnReadStateChanged: boolean;
  isPeerReadStateChanged: boolean;
  /** Something is amiss that only an exact count mends. */
  needsRecount: boolean;
};

/** Messages up to here count as seen: read, or gone from the person's view. */
const seenUpTo = (row: { read: number; hidden: number }): number => Math.max(row.read, row.hidden);

const createEntry = (handle: number, notice: ConversationNotice, muted = false): InboxEntry => ({
  handle,
  conversation: notice.conversation,
  kind: privateMembers(notice.conversation) ? "private" : "group",
  epoch: notice.epoch,
  head: 0,
  at: notice.at,
  prior: null,
  sender: notice.sender,
  preview: null,
  whole: true,
  unread: 0,
  delivered: 0,
  read: 0,
  othersDelivered: 0,
  othersRead: 0,
  hidden: 0,
  open: false,
  muted,
  kept: false,
  revision: notice.revision,
  group: notice.group,
  gone: false,
  countedUpTo: 0,
  membershipVersion: -1,
  changed: 0,
});

/** Unread after a notice, and whether the number can be trusted. */
const countUnread = (
  entry: InboxEntry,
  notice: ConversationNotice,
  continues: boolean,
): Pick<InboxEntry, "unread" | "countedUpTo"> & { needsRecount: boolean } => {
  const { countedUpTo, unread } = entry;
  const noticeSeenUpTo = Math.max(notice.ownReadState.read, notice.hidden);
  const isBehind = seenUpTo(entry) < noticeSeenUpTo;
  const isAhead = seenUpTo(entry) > noticeSeenUpTo;
  const isLater = notice.head >= countedUpTo && notice.revision >= entry.revision;
  if (notice.unread !== undefined && !isAhead && isLater) {
    return { unread: notice.unread, countedUpTo: notice.head, needsRecount: false };
  }
  if (continues) {
    const added = notice.messages.filter((message) => countsAsUnread(message) && message.seq > countedUpTo).length;
    return { unread: unread + added, countedUpTo: Math.max(countedUpTo, notice.head), needsRecount: isBehind };
  }
  return { unread, countedUpTo, needsRecount: isBehind || notice.head > Math.max(entry.head, countedUpTo) };
};

/** Nothing changes. */
const toUnchangedMerge = (entry: InboxEntry): NoticeMerge => ({
  entry,
  newMessages: [],
  revised: undefined,
  needsFullRow: false,
  isOwnReadStateChanged: false,
  isPeerReadStateChanged: false,
  needsRecount: false,
});

/** Of a group that is not this person's any more nothing is kept but that it is so. */
const mergeLeftNotice = (before: InboxEntry, { membershipVersion, at }: ConversationNotice): NoticeMerge => ({
  ...toUnchangedMerge({
    ...before,
    membershipVersion,
    gone: true,
    open: false,
    preview: null,
    unread: 0,
    countedUpTo: before.head,
    kept: false,
    at: Math.max(before.at, at),
  }),
  needsFullRow: true,
});

/** The same for somebody who does not let it be seen what they read: what they see of others' reading stands still. */
export const freezePeerReads = (current: InboxEntry | undefined, notice: ConversationNotice): ConversationNotice => {
  const before = current?.epoch === notice.epoch ? current.othersRead : 0;
  return { ...notice, peerReadState: { ...notice.peerReadState, read: Math.min(notice.peerReadState.read, before) } };
};

/**
 * Whether a notice speaks of another log than the row: the conversation was restored from an earlier copy and goes on
 * from there. Times never decrease from place to place, so a place that is no later cannot have a later time.
 */
const isFromOtherLog = (current: InboxEntry, notice: ConversationNotice): boolean => {
  if (current.epoch !== notice.epoch || current.gone || notice.gone || notice.head === 0) return false;
  return notice.head === current.head ? notice.at !== current.at : notice.head < current.head && notice.at > current.at;
};

/**
 * Takes a notice into a row. Notices may come twice, late or out of order, beside answers that say the same:
 * every field only moves forward, so that all orders end in the same row.
 */
export const mergeNotice = (
  current: InboxEntry | undefined,
  handle: number,
  notice: ConversationNotice,
): NoticeMerge => {
  const isFresh = current === undefined || current.epoch !== notice.epoch || isFromOtherLog(current, notice);
  const before = isFresh ? createEntry(handle, notice, current?.muted) : current;
  // What was said before they left, or before they came back, says nothing now.
  if (current && current.membershipVersion >= notice.membershipVersion && (current.gone || notice.gone))
    return toUnchangedMerge(current);
  if (notice.gone) return mergeLeftNotice(before, notice);
  const isHeadAdvanced = notice.head > before.head;
  const isRevised = notice.revision > before.revision;
  const isRevisionCarried = notice.revised !== undefined && notice.revised.since <= before.revision;
  const newMessages = notice.messages.filter((message) => message.seq > before.head);
  const continues = newMessages[0]?.seq === before.head + 1;
  const own = mergeReadStates(before, notice.ownReadState);
  const peers = mergeReadStates({ delivered: before.othersDelivered, read: before.othersRead }, notice.peerReadState);
  const hidden = Math.max(before.hidden, notice.hidden);
  const isMembershipChanged = notice.membershipVersion > before.membershipVersion;
  const isCardNew = (notice.group?.roster ?? 0) > (before.group?.roster ?? 0);
  const { needsRecount, ...count } = countUnread(before, notice, continues);
  // What a conversation says is always how it was at one moment: what is further in one thing is not behind in another.
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
    prior: last.prior,
    sender: last.sender,
    preview: last.head > hidden ? last.preview : null,
    whole: last.whole,
    revision: Math.max(before.revision, notice.revision),
    ...(isMembershipChanged ? { open: notice.open, gone: false, membershipVersion: notice.membershipVersion } : {}),
    group: isCardNew ? notice.group : before.group,
  };
  const isOwnMoved = own.delivered !== before.delivered || own.read !== before.read;
  // A device adds the messages that it is pushed to its own count; anything else it has to be told.
  const expected = before.unread + (continues ? newMessages.filter(countsAsUnread).length : 0);
  return {
    entry,
    // Somebody who is back hears of the row first: until then no message of it is theirs.
    newMessages: continues && !isFresh && !before.gone ? newMessages : [],
    revised:
      isRevised && isRevisionCarried ? { since: before.revision, messages: notice.revised?.messages ?? [] } : undefined,
    needsFullRow:
      isFresh ||
      (isHeadAdvanced && !continues) ||
      isMembershipChanged ||
      isCardNew ||
      hidden !== before.hidden ||
      (isRevised && !isRevisionCarried),
    isOwnReadStateChanged: isOwnMoved || entry.unread !== expected,
    isPeerReadStateChanged: peers.delivered !== before.othersDelivered || peers.read !== before.othersRead,
    needsRecount,
  };
};

/** Others' messages that came while an answer was under way, and whether an exact count overtook it. */
export type InflightCount = { seqs: number[]; isOvertaken: boolean };

/** The answer counted before messages were changed that the row has been told of: its count means nothing. */
export const isCountOutdated = (row: InboxEntry, { unread, revision }: MemberReadState): boolean =>
  unread !== undefined && revision < row.revision;

/** Takes the answer to a mark or a hiding into a row. `arrivals` are those since the question was asked. */
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
  const isAhead = seenUpTo(before) > Math.max(answer.ownReadState.read, answer.hidden);
  if (unread === undefined || isAhead || isCountOutdated(before, answer)) return entry;
  if (head >= before.countedUpTo) return { ...entry, unread, countedUpTo: head };
  if (inflight.isOvertaken) return entry;
  return { ...entry, unread: unread + inflight.seqs.filter((seq) => seq > head).length };
};
