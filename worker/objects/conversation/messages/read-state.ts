import type { Receipts } from "#contract/groups.ts";
import { clampReadState, mergeReadStates, type ReadState } from "#contract/messages/positions.ts";
import { isRefusal, type Refusal } from "#contract/wire/commands.ts";
import type { MessageInfo, ReceiptTime } from "#contract/wire/message-info.ts";
import type { ConversationLog } from "#worker/objects/conversation/log/conversation-log.ts";
import type { LowestReadState, Member } from "#worker/objects/conversation/log/member-table.ts";
import { isFormerReader } from "#worker/objects/conversation/log/memberships.ts";
import type { MessageRecord } from "#worker/objects/conversation/log/message-table.ts";
import type { MemberReadState } from "#worker/objects/rpc/messages.ts";
import type { UnreadState } from "#worker/objects/rpc/notices.ts";
import { findReceiptTime, recordReceiptMarks } from "./receipt-marks.ts";

/**
 * Messages from others that a member can see and has neither read nor cleared: their number, and the mentions among
 * them. A former member has none.
 */
export const countUnreadFor = (log: ConversationLog, member: Member): UnreadState =>
  isFormerReader(member)
    ? { unread: 0, mentions: [] }
    : {
        unread: log.messages.unread.countUnread(member, log.head),
        ...(log.group ? { mentions: log.mentions.listUnread(member) } : {}),
      };

/** Read state shown to the others. While a member hides reads, their shown `read` stays where it was. */
const toShownReceipts = (member: Member, readState: ReadState, hidesReads: boolean): ReadState | null => {
  if (member.isBlocking) return member.shownReadState;
  return hidesReads ? { delivered: readState.delivered, read: (member.shownReadState ?? member).read } : null;
};

/** Parts that changed: anything, the `read` watermark, or the state shown to the others. */
type ReceiptsMove = { hasMoved: boolean; hasRead: boolean; isSeenChanged: boolean };

/**
 * Advances a member's read state, never back and never beyond what they see. `isVisibleToPeers`: the others may see
 * this read, and with it the earlier ones.
 */
export const applyReceipts = (
  log: ConversationLog,
  member: Member,
  claimed: ReadState,
  isVisibleToPeers: boolean,
  now = Date.now(),
): ReceiptsMove => {
  const readState = mergeReadStates(member, clampReadState(claimed, log.headFor(member)));
  const hasMoved = readState.delivered !== member.delivered || readState.read !== member.read;
  const hasRead = readState.read !== member.read;
  if (!hasMoved) return { hasMoved, hasRead, isSeenChanged: false };
  const hidesReads = hasRead ? !isVisibleToPeers : member.hidesReads;
  const before = member.shownReadState ?? { delivered: member.delivered, read: member.read };
  const shownReadState = toShownReceipts(member, readState, hidesReads);
  const after = shownReadState ?? readState;
  const isSeenChanged = after.delivered !== before.delivered || after.read !== before.read;
  const { receiptMarks: marks } = member;
  const receiptMarks = isSeenChanged && !log.group ? recordReceiptMarks(marks, before, after, now) : marks;
  log.members.update(member, { ...readState, hidesReads, shownReadState, receiptMarks });
  return { hasMoved, hasRead, isSeenChanged };
};

/** Clears the member's history up to a seq. Cannot be undone. */
export const clearHistoryUpTo = (log: ConversationLog, member: Member, upTo: number): void => {
  const hidden = Math.min(upTo, log.headFor(member));
  if (hidden > member.hidden) log.members.update(member, { hidden });
};

/** Lowest read state of the other members as far as they show it, 0 if there are none. */
const toPeerReadState = ({ delivered, read }: LowestReadState, { number }: Member, head: number): ReadState => {
  const lowestExcludingMember = ({ holder, lowest, next }: LowestReadState["read"]) => {
    const lowestSeq = holder === number ? next : lowest;
    return Number.isFinite(lowestSeq) ? Math.min(lowestSeq, head) : 0;
  };
  return { delivered: lowestExcludingMember(delivered), read: lowestExcludingMember(read) };
};

export const getPeerReadState = (log: ConversationLog, member: Member): ReadState =>
  toPeerReadState(log.members.lowestReadState, member, log.head);

export const toMemberReadState = (log: ConversationLog, member: Member, isCounted: boolean): MemberReadState => {
  const { delivered, read, hidden } = member;
  const { epoch, revision } = log;
  const head = log.headFor(member);
  const ownReadState = isFormerReader(member) ? { delivered: head, read: head } : { delivered, read };
  const state = { epoch, head, revision, ownReadState, hidden };
  return isCounted ? { ...state, ...countUnreadFor(log, member) } : state;
};

/** An own message of the member of which the others may know, or why there is none. */
const findOwnMessage = (log: ConversationLog, member: Member, seq: number): MessageRecord | Refusal => {
  const row = log.findVisible(member, seq);
  if (!row) return { error: "message_not_found" };
  return row.sender === member.number && row.kind !== "event" ? row : { error: "not_your_message" };
};

/**
 * Times of a member's own message in a private conversation. They are those of the shown read state, so they say no
 * more than the ticks did.
 */
export const getMessageInfo = (
  log: ConversationLog,
  member: Member,
  seq: number,
  seesRead: boolean,
): MessageInfo | Refusal => {
  const row = findOwnMessage(log, member, seq);
  if (isRefusal(row)) return row;
  const other = log.members.all.find(({ number }) => number !== member.number);
  const shown = other?.shownReadState ?? other;
  const findTime = (kind: keyof ReadState): ReceiptTime | null => {
    if (!other || !shown || row.withheld > 0 || shown[kind] < seq) return null;
    const { at, isExact } = findReceiptTime(other.receiptMarks, kind, seq);
    return { at: at === null ? null : Math.max(at, row.at), isExact };
  };
  return { delivered: findTime("delivered"), read: seesRead ? findTime("read") : null };
};

/** Delivery state of a member's own message per member. Members who joined later are left out. */
export const listReceiptsOf = (
  log: ConversationLog,
  member: Member,
  seq: number,
  seesRead: boolean,
): Receipts | Refusal => {
  const row = findOwnMessage(log, member, seq);
  if (isRefusal(row)) return row;
  const receipts: Receipts = { read: [], delivered: [], sent: [] };
  for (const other of log.members.visible) {
    if (other === member || other.visibleAfter >= seq) continue;
    const { delivered, read } = other.shownReadState ?? other;
    receipts[row.withheld > 0 || delivered < seq ? "sent" : read < seq || !seesRead ? "delivered" : "read"].push(
      other.number,
    );
  }
  return receipts;
};

const scannedMax = 2_000; // messages; authors of older ones are updated with the next notice

/** Authors whose messages were received or read by all members since `before`. */
export const listReachedAuthors = (log: ConversationLog, before: LowestReadState): Member[] => {
  const now = log.members.lowestReadState;
  const from = Math.min(before.delivered.lowest, before.read.lowest);
  const upTo = Math.min(log.head, Math.max(now.delivered.next, now.read.next));
  const rows = log.sql.exec<{ seq: number; sender: number }>(
    "SELECT seq, sender FROM messages WHERE seq > ? AND seq <= ? AND kind <> 'event'",
    Math.max(from, upTo - scannedMax),
    upTo,
  );
  return [...Map.groupBy(rows, ({ sender }) => sender)].flatMap(([sender, messages]) => {
    const member = log.members.findByNumber(sender);
    if (member?.state !== "in") return [];
    const [stateBefore, stateNow] = [toPeerReadState(before, member, log.head), toPeerReadState(now, member, log.head)];
    const isReached = ({ seq }: { seq: number }) =>
      (seq > stateBefore.delivered && seq <= stateNow.delivered) || (seq > stateBefore.read && seq <= stateNow.read);
    return messages.some(isReached) ? [member] : [];
  });
};
