import { type Body, withReply } from "#contract/conversations.ts";
import type { ConversationLog } from "#worker/objects/conversation/log/conversation-log.ts";
import type { Member } from "#worker/objects/conversation/log/member-table.ts";
import { isWithinMembership } from "#worker/objects/conversation/log/memberships.ts";

/**
 * Body to store for a message that may answer another one. A reference to a message that does not exist, or that is
 * of no membership of the author, is removed; the message itself is kept. A reference to a cleared or deleted
 * message stays, because every reader draws the quote from what they may see.
 */
export const checkReply = (log: ConversationLog, member: Member, body: Body): Body => {
  const { reply } = body;
  const isKnown = reply === undefined || isWithinMembership(member, log.head, reply);
  return isKnown ? body : withReply(body, undefined);
};
