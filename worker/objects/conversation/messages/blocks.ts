import type { ConversationLog } from "#worker/objects/conversation/log/conversation-log.ts";
import type { Member } from "#worker/objects/conversation/log/member-table.ts";

/**
 * Blocks the peer: their messages no longer reach this member (`ConversationLog.append` stores them as undelivered), and
 * the member's shown read state stays fixed. False if already blocked.
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
 * Removes a block. Undelivered messages stay undelivered. Each of them is revised once so that its author learns that
 * it never arrived, since the member's read state will move past it. False if there was no block.
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

/** Sets whether a member blocks the peer. True if that changed. */
export const setMemberBlock = (log: ConversationLog, member: Member, isBlocked: boolean): boolean =>
  isBlocked ? startBlock(log, member) : endBlock(log, member);
