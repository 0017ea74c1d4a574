import { unansweredMax, unansweredMs } from "#contract/limits/calls.ts";
import type { ConversationLog } from "#worker/objects/conversation/log/conversation-log.ts";
import type { Member } from "#worker/objects/conversation/log/member-table.ts";
import type { UnansweredStreak } from "#worker/objects/shared/call-record.ts";

/** The member's current streak of unanswered calls. It ends when the peer answers or writes. */
export const getUnansweredStreak = (log: ConversationLog, { number }: Member, now: number): UnansweredStreak => {
  const { latest, unanswered } = log.calls;
  const isStreak = latest?.caller === number && latest.answeredAt === null && now < unanswered.since + unansweredMs;
  const continues =
    isStreak && (unanswered.count < unansweredMax || !log.messages.hasSentAfter(1 - number, unanswered.from));
  return continues ? unanswered : { count: 0, since: now, from: log.head };
};
