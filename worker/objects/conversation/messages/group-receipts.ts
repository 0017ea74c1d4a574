import type { ConversationLog } from "#worker/objects/conversation/log/conversation-log.ts";
import type { LeastMarks, Member } from "#worker/objects/conversation/log/member-table.ts";
import { othersIn } from "./read-state.ts";

const lookedAtMax = 2_000; // messages; what is older, its author hears of with the next notice

/** Whose own messages got or were read by everybody since the members' marks were like that. */
export const authorsReached = (log: ConversationLog, before: LeastMarks): Member[] => {
  const now = log.members.least;
  const from = Math.min(before.delivered.least, before.read.least);
  const upTo = Math.min(log.head, Math.max(now.delivered.next, now.read.next));
  const written = log.sql.exec<{ seq: number; sender: number }>(
    "SELECT seq, sender FROM messages WHERE seq > ? AND seq <= ? AND kind <> 'event'",
    Math.max(from, upTo - lookedAtMax),
    upTo,
  );
  return [...Map.groupBy(written, ({ sender }) => sender)].flatMap(([sender, messages]) => {
    const member = log.members.at(sender);
    if (member?.state !== "in") return [];
    const [was, is] = [othersIn(before, member, log.head), othersIn(now, member, log.head)];
    const isReached = ({ seq }: { seq: number }) =>
      (seq > was.delivered && seq <= is.delivered) || (seq > was.read && seq <= is.read);
    return messages.some(isReached) ? [member] : [];
  });
};
