import type { ConversationLog } from "#worker/objects/conversation/log/conversation-log.ts";
import type { Member } from "#worker/objects/conversation/log/member-table.ts";
import { readChanged } from "#worker/objects/conversation/messages/deletions.ts";
import { readNews } from "#worker/objects/conversation/messages/history.ts";
import { othersOf, unreadOf } from "#worker/objects/conversation/messages/read-state.ts";
import type { Notice } from "#worker/objects/rpc.ts";
import type { Told } from "./fan-out.ts";

/** What the channel of somebody who is no member any more is told: that it is so. */
const farewell = ({ id, epoch, began }: ConversationLog, { turn }: Member): Notice => ({
  conversation: id,
  epoch,
  head: 0,
  at: began,
  prior: null,
  sender: 0,
  preview: null,
  whole: true,
  open: false,
  gone: true,
  turn,
  group: null,
  hidden: 0,
  revision: 0,
  mine: { delivered: 0, read: 0 },
  others: { delivered: 0, read: 0 },
  call: null,
  calls: 0,
  messages: [],
});

/** The call as a member may know of it, and beside it one of which only their channel does. */
export const callFor = (log: ConversationLog, { number }: Member): Pick<Notice, "call" | "held" | "calls"> => {
  const { kept = null, version } = log.calls;
  if (!kept?.withheld || kept.caller === number) return { call: kept, calls: version };
  return { call: null, calls: version, ...(kept.over ? {} : { held: kept }) };
};

/** What a member's channel, which has been told this much, is told now. */
export const noticeFor = (log: ConversationLog, member: Member, told: Told, isExact: boolean): Notice => {
  if (member.state !== "in") return farewell(log, member);
  const news = readNews(log, member, Math.max(told.head, member.joined));
  const { epoch, revision, group } = log;
  return {
    conversation: log.id,
    epoch,
    head: log.headOf(member),
    ...log.lastOf(member),
    open: log.isOpen,
    gone: false,
    turn: group ? member.turn : log.turn,
    group: group && {
      name: group.name,
      picture: group.picture,
      count: log.members.seated.length,
      roster: group.roster,
      role: member.role,
      number: member.number,
    },
    hidden: member.hidden,
    revision,
    ...readChanged(log, member, told.revision),
    mine: { delivered: member.delivered, read: member.read },
    others: othersOf(log, member),
    ...callFor(log, member),
    messages: news ?? [],
    ...(isExact || !news ? { unread: unreadOf(log, member) } : {}),
  };
};
