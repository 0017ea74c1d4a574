import { isGroupActionAllowed } from "#contract/groups.ts";
import { everyoneMentionPauseMs } from "#contract/limits/groups.ts";
import type { Body } from "#contract/messages/body.ts";
import { findMentions, withMentions } from "#contract/messages/mentions.ts";
import type { Refusal } from "#contract/wire/commands.ts";
import type { ConversationLog } from "#worker/objects/conversation/log/conversation-log.ts";
import { isVisibleMember, type Member } from "#worker/objects/conversation/log/member-table.ts";

/**
 * Body with the mentions that are valid in this conversation. Mentions of people who are not members, for instance
 * because they left meanwhile, become plain text, and so do all in a private conversation. Everyone may be mentioned by
 * permitted roles only, and once in `everyoneMentionPauseMs` in a group.
 */
export const checkMentions = (log: ConversationLog, member: Member, body: Body, now: number): Body | Refusal => {
  const mentions = findMentions(body);
  if (mentions.length === 0) return body;
  const valid = mentions.filter(([, , who]) => {
    const mentioned = who === undefined ? undefined : log.members.findByNumber(who);
    return log.group !== null && (who === undefined || (mentioned !== undefined && isVisibleMember(mentioned)));
  });
  if (valid.some(([, , who]) => who === undefined)) {
    if (!isGroupActionAllowed(member.role, "mentionEveryone")) return { error: "cannot_mention_everyone" };
    const lastAt = log.mentions.findLastEveryoneAt();
    if (lastAt !== undefined && Math.abs(now - lastAt) < everyoneMentionPauseMs)
      return { error: "everyone_mentioned_recently" };
  }
  return valid.length === mentions.length ? body : withMentions(body, valid);
};
