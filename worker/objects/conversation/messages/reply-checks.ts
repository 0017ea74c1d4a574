import { type Body, withReply } from "#contract/conversations.ts";
import type { ConversationLog } from "#worker/objects/conversation/log/conversation-log.ts";
import type { Member } from "#worker/objects/conversation/log/member-table.ts";

/**
 * Body to store for a message that may answer another one. A reference to a message that does not exist, or that is
 * older than the author's membership, is removed; the message itself is kept. A reference to a cleared or deleted
 * message stays, because every reader draws the quote from what they may see.
 */
export const checkReply = (log: ConversationLog, member: Member, body: Body): Body => {
  const { reply } = body;
  const isKnown = reply === undefined || (reply > member.visibleAfter && reply <= log.headFor(member));
  return isKnown ? body : withReply(body, undefined);
};
