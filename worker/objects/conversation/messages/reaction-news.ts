import { pushReactionsCounted, pushReactionsRead } from "#contract/limits/push.ts";
import { toPreview } from "#contract/wire/preview.ts";
import { fromBodyColumns } from "#worker/objects/conversation/log/body-columns.ts";
import type { ConversationLog } from "#worker/objects/conversation/log/conversation-log.ts";
import type { Member } from "#worker/objects/conversation/log/member-table.ts";
import type { ReactionNews } from "#worker/objects/rpc/messages.ts";

type NewReaction = { seq: number; member: number; emoji: string; revision: number };

/**
 * Reactions of others to a member's own messages that were given or changed after a revision and not removed since.
 * Withheld reactions and those to messages that the member cannot see any more are left out.
 */
export const readReactionNews = (log: ConversationLog, member: Member, since: number): ReactionNews => {
  const reactions = log.sql
    .exec<NewReaction>(
      `SELECT seq, member, emoji, reactions.revision FROM reactions JOIN messages USING (seq)
       WHERE reactions.revision > ? AND emoji IS NOT NULL AND reactions.withheld = 0 AND member <> ? AND sender = ?
         AND EXISTS (SELECT 1 FROM json_each(?) WHERE seq BETWEEN value ->> 0 AND value ->> 1)
       ORDER BY reactions.revision DESC LIMIT ?`,
      since,
      member.number,
      member.number,
      JSON.stringify(log.listVisibleRanges(member)),
      pushReactionsCounted,
    )
    .toArray();
  const newest = reactions.slice(0, pushReactionsRead).flatMap(({ seq, member: number, emoji }) => {
    const [message, reactor] = [log.messages.find(seq), log.members.findByNumber(number)];
    if (!message || !reactor) return [];
    return [{ seq, user: reactor.user, emoji, ...toPreview(fromBodyColumns(message.kind, message.body)) }];
  });
  return {
    revision: reactions[0]?.revision ?? 0,
    people: new Set(reactions.map((reaction) => reaction.member)).size,
    messages: new Set(reactions.map(({ seq }) => seq)).size,
    newest,
  };
};
