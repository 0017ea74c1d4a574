import type { Uuid } from "#contract/ids.ts";
import type { EventBody } from "#contract/messages/body.ts";
import { isLeaveUnconfirmed, isVisibleMember, type Member } from "#worker/objects/conversation/log/member-table.ts";
import { toKeptHistory } from "#worker/objects/conversation/log/memberships.ts";
import type { AddedMember } from "#worker/objects/rpc/groups.ts";
import type { GroupLog } from "./group-view.ts";

/** Steps of which group commands consist. Each runs within the caller's transaction. */

export type GroupEvent = Omit<EventBody, "type">;

/** Appends the system messages of a change. */
export const appendEvents = (log: GroupLog, actor: Member, events: readonly GroupEvent[], now: number): void => {
  for (const event of events) log.append(actor.number, crypto.randomUUID(), { type: "event", ...event }, now);
};

/** Increments the members version, which devices follow. */
export const nextMembersVersion = (log: GroupLog): number => {
  log.updateGroup({ roster: log.group.roster + 1 });
  return log.group.roster;
};

/**
 * Adds a person for the first time or again. Messages from before are invisible to them, except those of memberships
 * whose history they kept, and count as delivered and read.
 */
export const attachMember = (
  log: GroupLog,
  { user, isHidden }: AddedMember,
  role: Member["role"],
  membersVersion: number,
  now: number,
): Member => {
  const member = log.members.find(user) ?? log.members.add(user);
  const { head } = log;
  log.invitations.delete(user);
  log.members.update(member, {
    state: isHidden ? (isLeaveUnconfirmed(member) ? "quietLeaving" : "quiet") : "in",
    role,
    visibleAfter: head,
    since: now,
    delivered: head,
    read: head,
    hidden: member.kept ? member.hidden : head,
    hidesReads: false,
    shownReadState: null,
    membershipVersion: member.membershipVersion + 1,
    version: membersVersion,
  });
  return member;
};

/**
 * Ends a membership. Active members keep the history up to the system message that says so, which the caller appends
 * next. Hidden members never learned of the group and keep nothing of it.
 */
export const detachMember = (log: GroupLog, member: Member, membersVersion: number, now: number): void => {
  const { kept, state } = member;
  const { head, revision } = log;
  const end = { revision, at: now, roster: membersVersion };
  log.members.update(member, {
    state: state === "quiet" ? "out" : "leaving",
    role: "member",
    visibleAfter: head,
    membershipVersion: member.membershipVersion + 1,
    version: membersVersion,
    kept: state === "in" ? toKeptHistory(member, head + 1, end) : kept,
  });
  log.pendingDeletions.clearOf(member);
};

/** Deletes the history that a former member kept. Their channel is told that the conversation is gone. */
export const forgetHistory = (log: GroupLog, member: Member): void =>
  log.members.update(member, {
    kept: null,
    state: isVisibleMember(member) ? "quietLeaving" : "leaving",
    membershipVersion: member.membershipVersion + 1,
  });

/** Member as the others see the group: hidden members are included, so that commands do not reveal them as hidden. */
export const findVisibleMember = (log: GroupLog, user: Uuid): Member | undefined => {
  const member = log.members.find(user);
  return member && isVisibleMember(member) ? member : undefined;
};
