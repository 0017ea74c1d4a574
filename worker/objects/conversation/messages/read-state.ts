import { clampReadState, mergeReadStates, type ReadState } from "#contract/conversations.ts";
import type { Receipts } from "#contract/groups.ts";
import type { Refusal } from "#contract/wire/commands.ts";
import type { ConversationLog } from "#worker/objects/conversation/log/conversation-log.ts";
import type { LowestReadState, Member } from "#worker/objects/conversation/log/member-table.ts";
import type { MemberReadState } from "#worker/objects/rpc.ts";

/** Others' messages that a member may see and has neither read nor hidden, counted. */
export const countUnreadFor = (log: ConversationLog, member: Member): number =>
  log.messages.unread.countUnread(member, log.head);

/** How the others see marks that moved on: one who reads unseen has read no further than when they began to. */
const toShownReceipts = (member: Member, readState: ReadState, hidesReads: boolean): ReadState | null => {
  if (member.isBlocking) return member.shownReadState;
  return hidesReads ? { delivered: readState.delivered, read: (member.shownReadState ?? member).read } : null;
};

/** What moved: anything, what was read, and anything that the others see. */
type ReceiptsMove = { hasMoved: boolean; hasRead: boolean; isSeenChanged: boolean };

/**
 * Moves a member's marks on, never back and never beyond what they see. Tells what moved. `isShown`: the others may
 * see what is read from now on, and with it what was read before.
 */
export const applyReceipts = (
  log: ConversationLog,
  member: Member,
  claimed: ReadState,
  isVisibleToPeers: boolean,
): ReceiptsMove => {
  const readState = mergeReadStates(member, clampReadState(claimed, log.headFor(member)));
  const hasMoved = readState.delivered !== member.delivered || readState.read !== member.read;
  const hasRead = readState.read !== member.read;
  if (!hasMoved) return { hasMoved, hasRead, isSeenChanged: false };
  const hidesReads = hasRead ? !isVisibleToPeers : member.hidesReads;
  const before = member.shownReadState ?? { delivered: member.delivered, read: member.read };
  log.members.update(member, {
    ...readState,
    hidesReads,
    shownReadState: toShownReceipts(member, readState, hidesReads),
  });
  const after = member.shownReadState ?? member;
  return { hasMoved, hasRead, isSeenChanged: after.delivered !== before.delivered || after.read !== before.read };
};

/** Messages up to a place go from a member's view. What is gone stays gone. */
export const clearHistoryUpTo = (log: ConversationLog, member: Member, upTo: number): void => {
  const hidden = Math.min(upTo, log.headFor(member));
  if (hidden > member.hidden) log.members.update(member, { hidden });
};

/** The least that the other members have got and read, as far as they let it be seen; nothing when there are none. */
export const toPeerReadState = ({ delivered, read }: LowestReadState, { number }: Member, head: number): ReadState => {
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
  const state = { epoch, head: log.headFor(member), revision, ownReadState: { delivered, read }, hidden };
  return isCounted ? { ...state, unread: countUnreadFor(log, member) } : state;
};

/** How far each of the others is with a member's own message; who came after it is left out. */
export const listReceiptsOf = (
  log: ConversationLog,
  member: Member,
  seq: number,
  seesRead: boolean,
): Receipts | Refusal => {
  const row = log.findVisible(member, seq);
  if (!row) return { error: "message_not_found" };
  if (row.sender !== member.number || row.kind === "event") return { error: "not_your_message" };
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
