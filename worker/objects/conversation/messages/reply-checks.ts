import type { Uuid } from "#contract/ids.ts";
import { type Body, withReply } from "#contract/messages/body.ts";
import { messageKinds } from "#contract/messages/kinds.ts";
import type { ConversationLog } from "#worker/objects/conversation/log/conversation-log.ts";
import type { Member } from "#worker/objects/conversation/log/member-table.ts";
import { isWithinMembership } from "#worker/objects/conversation/log/memberships.ts";

/**
 * Whether a member may answer a message of a group in private: `author` wrote it during a membership of this member.
 * Either may have left since, and the message may be deleted or cleared, like any answered message.
 */
export const mayAnswerInPrivate = (log: ConversationLog, member: Member, author: Uuid, seq: number): boolean => {
  const other = log.members.find(author);
  const row = isWithinMembership(member, log.head, seq) ? log.messages.find(seq) : undefined;
  if (!log.group || !other || other === member || !row) return false;
  return row.sender === other.number && messageKinds[row.kind].nature !== "system";
};

/**
 * Body to store for a message that may answer another one. A reference to a message that does not exist, or that is
 * of no membership of the author, is removed; the message itself is kept. A reference to a cleared or deleted
 * message stays, because every reader draws the quote from what they may see. One to a message of a group belongs to
 * private conversations, and the sender's channel has asked that group.
 */
export const checkReply = (log: ConversationLog, member: Member, body: Body): Body => {
  const { reply } = body;
  if (reply === undefined) return body;
  const isKnown = typeof reply === "number" ? isWithinMembership(member, log.head, reply) : log.group === null;
  return isKnown ? body : withReply(body, undefined);
};
