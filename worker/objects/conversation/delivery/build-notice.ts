import type { GroupCard } from "#contract/groups.ts";
import type { ConversationLog, GroupState } from "#worker/objects/conversation/log/conversation-log.ts";
import type { Member } from "#worker/objects/conversation/log/member-table.ts";
import { isFormerReader } from "#worker/objects/conversation/log/memberships.ts";
import { listPinnedFor } from "#worker/objects/conversation/log/pinned-messages.ts";
import { readNewMessages } from "#worker/objects/conversation/messages/history.ts";
import { countUnreadFor, getPeerReadState } from "#worker/objects/conversation/messages/read-state.ts";
import { readPushableRevisions } from "#worker/objects/conversation/messages/revisions.ts";
import type { ConversationNotice } from "#worker/objects/rpc/notices.ts";
import type { DeliveryProgress } from "./fan-out.ts";

/** Notice for a former member without history: only that the conversation is gone. */
const buildLeftNotice = (
  { id, epoch, createdAt }: ConversationLog,
  { membershipVersion }: Member,
): ConversationNotice => ({
  conversation: id,
  epoch,
  head: 0,
  at: createdAt,
  sender: 0,
  preview: null,
  whole: true,
  open: false,
  gone: true,
  membershipVersion,
  group: null,
  hidden: 0,
  revision: 0,
  ownReadState: { delivered: 0, read: 0 },
  peerReadState: { delivered: 0, read: 0 },
  call: null,
  callVersion: 0,
  messages: [],
});

/**
 * Notice for a former member: the conversation as it was at the end of their membership, and deletions since. Nothing
 * counts as unread.
 */
const buildFormerNotice = (log: ConversationLog, member: Member, delivered: DeliveryProgress): ConversationNotice => {
  const { epoch, revision, group } = log;
  const head = log.headFor(member);
  const [first] = member.kept?.ranges.at(-1) ?? [head + 1];
  // A later card would tell them of later changes.
  const isCardOfEnd = group !== null && group.roster === member.kept?.roster;
  return {
    conversation: log.id,
    epoch,
    head,
    ...log.lastMessageFor(member),
    open: false,
    gone: false,
    membershipVersion: member.membershipVersion,
    group: isCardOfEnd ? toGroupCard(log, group, member) : null,
    hidden: member.hidden,
    revision,
    ...readPushableRevisions(log, member, delivered.revision),
    ownReadState: { delivered: head, read: head },
    peerReadState: { delivered: 0, read: 0 },
    call: null,
    callVersion: 0,
    messages: readNewMessages(log, member, Math.max(delivered.head, first - 1)) ?? [],
    ...countUnreadFor(log, member),
  };
};

const toGroupCard = (log: ConversationLog, group: GroupState, { role, number }: Member): GroupCard => ({
  name: group.name,
  picture: group.picture,
  count: log.members.visible.length,
  roster: group.roster,
  role,
  number,
});

/** The call as a member may see it. A call hidden from them goes separately, for their channel only. */
export const toVisibleCall = (
  log: ConversationLog,
  { number }: Member,
): Pick<ConversationNotice, "call" | "hiddenCall" | "callVersion"> => {
  const { latest = null, version } = log.calls;
  if (!latest?.isHiddenFromCallee || latest.caller === number) return { call: latest, callVersion: version };
  return { call: null, callVersion: version, ...(latest.over ? {} : { hiddenCall: latest }) };
};

/** Notice for a member's channel with everything after `delivered`. `needsCount` adds the exact unread count. */
export const buildNotice = (
  log: ConversationLog,
  member: Member,
  delivered: DeliveryProgress,
  needsCount: boolean,
): ConversationNotice => {
  if (isFormerReader(member)) return buildFormerNotice(log, member, delivered);
  if (member.state !== "in") return buildLeftNotice(log, member);
  const newMessages = readNewMessages(log, member, Math.max(delivered.head, member.visibleAfter));
  const { epoch, revision, group, pinned } = log;
  const newest = log.lastMessageFor(member);
  const author = group && newest.preview ? log.members.findByNumber(newest.sender)?.user : undefined;
  return {
    conversation: log.id,
    epoch,
    head: log.headFor(member),
    ...newest,
    ...(author === undefined ? {} : { author }),
    open: log.isOpen,
    gone: false,
    membershipVersion: group ? member.membershipVersion : log.writabilityVersion,
    group: group && toGroupCard(log, group, member),
    hidden: member.hidden,
    revision,
    ...readPushableRevisions(log, member, delivered.revision),
    ownReadState: { delivered: member.delivered, read: member.read },
    peerReadState: getPeerReadState(log, member),
    ...(pinned ? { pinned: { version: pinned.version, seqs: listPinnedFor(pinned, member, log.head) } } : {}),
    ...toVisibleCall(log, member),
    messages: newMessages ?? [],
    ...(needsCount || !newMessages ? countUnreadFor(log, member) : {}),
  };
};
