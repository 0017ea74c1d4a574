import type { Uuid } from "#contract/ids.ts";
import type { Refusal } from "#contract/wire/commands.ts";
import { isVisibleMember, type Member } from "#worker/objects/conversation/log/member-table.ts";
import type { GroupChangeResult } from "#worker/objects/rpc/groups.ts";
import { type GroupLog, toGroupChangeResult } from "./group-view.ts";
import {
  appendEvents,
  detachMember,
  findVisibleMember,
  forgetHistory,
  type GroupEvent,
  nextMembersVersion,
} from "./membership-changes.ts";

/** Departures of members, and the end of a group. Each function runs within the caller's transaction. */

export const expelMember = (log: GroupLog, actor: Member, user: Uuid, now: number): GroupChangeResult | Refusal => {
  const member = log.members.find(user);
  if (!member || member === actor) return { error: "member_not_found" };
  if (!isVisibleMember(member)) return toGroupChangeResult(log);
  detachMember(log, member, nextMembersVersion(log), now);
  appendEvents(log, actor, [{ event: "removed", who: [member.number] }], now);
  return toGroupChangeResult(log);
};

/** Ends the group for everybody: nobody keeps anything of it. */
export const endGroup = (log: GroupLog, now: number): GroupChangeResult => {
  const { picture } = log.group;
  const membersVersion = nextMembersVersion(log);
  for (const member of log.members.all) {
    if (isVisibleMember(member)) detachMember(log, member, membersVersion, now);
    if (member.kept) forgetHistory(log, member);
  }
  log.invitations.deleteAll();
  log.updateGroup({ ended: true, picture: null });
  return toGroupChangeResult(log, picture);
};

/** Ends the group with its last active member. Former members keep the history they had. */
const closeGroup = (log: GroupLog, actor: Member, now: number): GroupChangeResult => {
  const { picture } = log.group;
  const membersVersion = nextMembersVersion(log);
  for (const member of [...log.members.visible]) detachMember(log, member, membersVersion, now);
  appendEvents(log, actor, [{ event: "left" }], now);
  log.invitations.deleteAll();
  log.updateGroup({ ended: true, picture: null });
  return toGroupChangeResult(log, picture);
};

/** Successor of a leaving owner: the named member if active, otherwise the member with the longest membership. */
const chooseSuccessor = (log: GroupLog, actor: Member, successorId: Uuid | undefined): Member | undefined => {
  const others = log.members.active.filter((member) => member !== actor);
  const longestMember = others.toSorted((a, b) => a.since - b.since || a.number - b.number)[0];
  return others.find(({ user }) => user === successorId) ?? longestMember;
};

/** Removes a member who leaves. An owner hands the group to a successor; the last active member closes it. */
export const leaveWithSuccessor = (
  log: GroupLog,
  actor: Member,
  successorId: Uuid | undefined,
  now: number,
): GroupChangeResult | Refusal => {
  const isOwner = actor.role === "owner";
  if (isOwner && successorId !== undefined && (successorId === actor.user || !findVisibleMember(log, successorId)))
    return { error: "member_not_found" };
  // Hidden members do not keep a group alive.
  if (log.members.active.length === 1) return closeGroup(log, actor, now);
  const successor = isOwner ? chooseSuccessor(log, actor, successorId) : undefined;
  const membersVersion = nextMembersVersion(log);
  detachMember(log, actor, membersVersion, now);
  if (successor) {
    log.members.update(successor, { role: "owner", version: membersVersion });
    log.invitations.deleteAll();
  }
  const leftEvent: GroupEvent = { event: "left" };
  appendEvents(log, actor, successor ? [leftEvent, { event: "owner", who: [successor.number] }] : [leftEvent], now);
  return toGroupChangeResult(log);
};

/** Removes a hidden member. */
export const leaveSilently = (log: GroupLog, member: Member, now: number): void => {
  if (!isVisibleMember(member)) return;
  detachMember(log, member, nextMembersVersion(log), now);
  appendEvents(log, member, [{ event: "left" }], now);
};
