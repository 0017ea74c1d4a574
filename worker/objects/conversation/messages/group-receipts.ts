import type { ConversationLog } from "#worker/objects/conversation/log/conversation-log.ts";
import type { LowestReadState, Member } from "#worker/objects/conversation/log/member-table.ts";
import { toPeerReadState } from "./read-state.ts";

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
