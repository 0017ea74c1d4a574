import { countsAsUnread, type InboxRow, type Message, mergeReadStates } from "#contract/conversations.ts";
import { privateMembers } from "#contract/ids.ts";
import type { ConversationNotice, MemberReadState } from "#worker/objects/rpc.ts";

/**
 * An inbox row with what the channel keeps for itself: `counted` is the place up to which `unread` has
 * counted (it can be ahead of `head` when an exact count came before the messages), `turn` orders changes of
 * `open`, `changed` is the row's number in the person's counter.
 */
export type InboxEntry = InboxRow & { counted: number; turn: number; changed: number };

/** What a notice makes of a row, and what the person's devices have to be told of it. */
export type NoticeMerge = {
  entry: InboxEntry;
  /** Messages that continue the row: they are pushed whole. */
  news: Message[];
  /** Messages that were changed since the row's revision. */
  revised: ConversationNotice["revised"];
  /** The row has to be told as a whole. */
  isRowNew: boolean;
  isMineMoved: boolean;
  isOthersMoved: boolean;
  /** Something is amiss that only an exact count mends. */
  isInexact: boolean;
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
  counted: 0,
  turn: -1,
  changed: 0,
});

/** Unread after a notice, and whether the number can be trusted. */
const countUnread = (entry: InboxEntry, notice: ConversationNotice, continues: boolean) => {
  const { counted, unread } = entry;
  const isBehind = seenUpTo(entry) < Math.max(notice.mine.read, notice.hidden);
  const isAhead = seenUpTo(entry) > Math.max(notice.mine.read, notice.hidden);
  const isLater = notice.head >= counted && notice.revision >= entry.revision;
  if (notice.unread !== undefined && !isAhead && isLater) {
    return { unread: notice.unread, counted: notice.head, isInexact: false };
  }
  if (continues) {
    const added = notice.messages.filter((message) => countsAsUnread(message) && message.seq > counted).length;
    return { unread: unread + added, counted: Math.max(counted, notice.head), isInexact: isBehind };
  }
  return { unread, counted, isInexact: isBehind || notice.head > Math.max(entry.head, counted) };
};

/** Nothing changes. */
const toUnchangedMerge = (entry: InboxEntry): NoticeMerge => ({
  entry,
  news: [],
  revised: undefined,
  isRowNew: false,
  isMineMoved: false,
  isOthersMoved: false,
  isInexact: false,
});

/** Of a group that is not this person's any more nothing is kept but that it is so. */
const mergeLeftNotice = (before: InboxEntry, { turn, at }: ConversationNotice): NoticeMerge => ({
  ...toUnchangedMerge({
    ...before,
    turn,
    gone: true,
    open: false,
    preview: null,
    unread: 0,
    counted: before.head,
    kept: false,
    at: Math.max(before.at, at),
  }),
  isRowNew: true,
});

/** The same for somebody who does not let it be seen what they read: what they see of others' reading stands still. */
export const freezePeerReads = (known: InboxEntry | undefined, notice: ConversationNotice): ConversationNotice => {
  const before = known?.epoch === notice.epoch ? known.othersRead : 0;
  return { ...notice, others: { ...notice.others, read: Math.min(notice.others.read, before) } };
};

/**
 * Whether a notice speaks of another log than the row: the conversation was restored from an earlier copy and goes on
 * from there. Times never decrease from place to place, so a place that is no later cannot have a later time.
 */
const isFromOtherLog = (known: InboxEntry, notice: ConversationNotice): boolean => {
  if (known.epoch !== notice.epoch || known.gone || notice.gone || notice.head === 0) return false;
  return notice.head === known.head ? notice.at !== known.at : notice.head < known.head && notice.at > known.at;
};

/**
 * Takes a notice into a row. Notices may come twice, late or out of order, beside answers that say the same:
 * every field only moves forward, so that all orders end in the same row.
 */
export const mergeNotice = (known: InboxEntry | undefined, handle: number, notice: ConversationNotice): NoticeMerge => {
  const isFresh = known === undefined || known.epoch !== notice.epoch || isFromOtherLog(known, notice);
  const before = isFresh ? createEntry(handle, notice, known?.muted) : known;
  // What was said before they left, or before they came back, says nothing now.
  if (known && known.turn >= notice.turn && (known.gone || notice.gone)) return toUnchangedMerge(known);
  if (notice.gone) return mergeLeftNotice(before, notice);
  const isAdvance = notice.head > before.head;
  const isRevised = notice.revision > before.revision;
  const isCarried = notice.revised !== undefined && notice.revised.since <= before.revision;
  const fresh = notice.messages.filter((message) => message.seq > before.head);
  const continues = fresh[0]?.seq === before.head + 1;
  const mine = mergeReadStates(before, notice.mine);
  const others = mergeReadStates({ delivered: before.othersDelivered, read: before.othersRead }, notice.others);
  const hidden = Math.max(before.hidden, notice.hidden);
  const isTurned = notice.turn > before.turn;
  const isCardNew = (notice.group?.roster ?? 0) > (before.group?.roster ?? 0);
  const { isInexact, ...count } = countUnread(before, notice, continues);
  // What a conversation says is always how it was at one moment: what is further in one thing is not behind in another.
  const last = isAdvance || (isRevised && notice.head === before.head) ? notice : before;
  const entry: InboxEntry = {
    ...before,
    ...count,
    ...mine,
    othersDelivered: others.delivered,
    othersRead: others.read,
    hidden,
    head: last.head,
    at: last.at,
    prior: last.prior,
    sender: last.sender,
    preview: last.head > hidden ? last.preview : null,
    whole: last.whole,
    revision: Math.max(before.revision, notice.revision),
    ...(isTurned ? { open: notice.open, gone: false, turn: notice.turn } : {}),
    group: isCardNew ? notice.group : before.group,
  };
  const isMarked = mine.delivered !== before.delivered || mine.read !== before.read;
  // A device adds the messages that it is pushed to its own count; anything else it has to be told.
  const expected = before.unread + (continues ? fresh.filter(countsAsUnread).length : 0);
  return {
    entry,
    // Somebody who is back hears of the row first: until then no message of it is theirs.
    news: continues && !isFresh && !before.gone ? fresh : [],
    revised: isRevised && isCarried ? { since: before.revision, messages: notice.revised?.messages ?? [] } : undefined,
    isRowNew:
      isFresh ||
      (isAdvance && !continues) ||
      isTurned ||
      isCardNew ||
      hidden !== before.hidden ||
      (isRevised && !isCarried),
    isMineMoved: isMarked || entry.unread !== expected,
    isOthersMoved: others.delivered !== before.othersDelivered || others.read !== before.othersRead,
    isInexact,
  };
};

/** Others' messages that came while an answer was under way, and whether an exact count overtook it. */
export type InflightCount = { seqs: number[]; isOvertaken: boolean };

/** The answer counted before messages were changed that the row has been told of: its count means nothing. */
export const isCountOutdated = (row: InboxEntry, { unread, revision }: MemberReadState): boolean =>
  unread !== undefined && revision < row.revision;

/** Takes the answer to a mark or a hiding into a row. `arrivals` are those since the question was asked. */
export const mergeReadState = (before: InboxEntry, standing: MemberReadState, arrivals: InflightCount): InboxEntry => {
  if (standing.epoch !== before.epoch || before.gone) return before;
  const { unread, head } = standing;
  const hidden = Math.max(before.hidden, standing.hidden);
  const entry = {
    ...before,
    ...mergeReadStates(before, standing.mine),
    hidden,
    preview: before.head > hidden ? before.preview : null,
  };
  const isAhead = seenUpTo(before) > Math.max(standing.mine.read, standing.hidden);
  if (unread === undefined || isAhead || isCountOutdated(before, standing)) return entry;
  if (head >= before.counted) return { ...entry, unread, counted: head };
  if (arrivals.isOvertaken) return entry;
  return { ...entry, unread: unread + arrivals.seqs.filter((seq) => seq > head).length };
};
