import type { ConversationLog } from "#worker/objects/conversation/log/conversation-log.ts";
import type { Member } from "#worker/objects/conversation/log/member-table.ts";

/**
 * From now on nothing of the others gets through to this member, and their marks stand still for the others.
 * False when that was so already.
 */
const startBlock = (log: ConversationLog, member: Member): boolean => {
  if (member.isBlocking) return false;
  const { delivered, read } = member.shownReadState ?? member;
  log.members.update(member, {
    isBlocking: true,
    visibleUpTo: log.headFor(member),
    shownReadState: { delivered, read },
  });
  return true;
};

/**
 * Lets the others through again. What was withheld meanwhile stays so; as the member's marks will move on over it,
 * each of those messages is changed once, into one whose author knows that it never arrived.
 */
const endBlock = (log: ConversationLog, member: Member): boolean => {
  if (!member.isBlocking) return false;
  const { hidesReads, shownReadState, delivered } = member;
  log.members.update(member, {
    isBlocking: false,
    shownReadState: hidesReads && shownReadState ? { delivered, read: shownReadState.read } : null,
  });
  const senders = log.members.all.filter(({ number }) => number !== member.number);
  for (const { number } of senders) {
    const disclosed = log.sql.exec(
      `UPDATE messages SET withheld = 2, revision = ? + told.place
       FROM (SELECT seq, row_number() OVER (ORDER BY seq) AS place FROM messages WHERE withheld = 1 AND sender = ?) AS told
       WHERE messages.seq = told.seq RETURNING messages.seq`,
      log.revision,
      number,
    );
    log.addRevisions(disclosed.toArray().length);
    log.messages.invalidateCache();
  }
  return true;
};

/** Whether the member lets the others through. True when that changed. */
export const setMemberBlock = (log: ConversationLog, member: Member, isBlocked: boolean): boolean =>
  isBlocked ? startBlock(log, member) : endBlock(log, member);
