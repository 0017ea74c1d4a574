import type { ConversationLog } from "./conversation-log";
import { readNews } from "./conversation-pages";
import type { Told } from "./fan-out";
import type { Member } from "./members";
import { readChanged } from "./revisions";
import type { Notice } from "./rpc";
import { othersOf, unreadOf } from "./standing";

/** What a member's channel, which has been told this much, is told now. */
export const noticeFor = (log: ConversationLog, member: Member, told: Told, isExact: boolean): Notice => {
  const news = readNews(log, member, told.head);
  const { epoch, revision, turn } = log;
  return {
    conversation: log.id,
    epoch,
    head: log.headOf(member),
    ...log.lastOf(member),
    open: log.isOpen,
    turn,
    hidden: member.hidden,
    revision,
    ...readChanged(log, member, told.revision),
    mine: { delivered: member.delivered, read: member.read },
    others: othersOf(log, member),
    messages: news ?? [],
    ...(isExact || !news ? { unread: unreadOf(log, member) } : {}),
  };
};
