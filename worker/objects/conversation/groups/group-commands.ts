import { isGroupActionAllowed } from "#contract/groups.ts";
import type { Uuid } from "#contract/ids.ts";
import { groupMembersMax } from "#contract/limits.ts";
import type { EventBody } from "#contract/messages/body.ts";
import type { Refusal } from "#contract/wire/commands.ts";
import { ConversationLog } from "#worker/objects/conversation/log/conversation-log.ts";
import { isLeaveUnconfirmed, isVisibleMember, type Member } from "#worker/objects/conversation/log/member-table.ts";
import { toKeptHistory } from "#worker/objects/conversation/log/memberships.ts";
import { fromBodyColumns } from "#worker/objects/conversation/log/message-kinds.ts";
import type { AddedMember, GroupChangeResult, GroupCommand } from "#worker/objects/rpc/groups.ts";
import { type GroupLog, isActiveGroup, toGroupChangeResult } from "./group-view.ts";

/**
 * Group commands. Each runs within the caller's transaction together with its system message, so concurrent commands
 * apply one after the other. Repeating a command that is already done changes nothing.
 */

type GroupEvent = Omit<EventBody, "type">;

/** Appends the system messages of a change. */
const appendEvents = (log: GroupLog, actor: Member, events: readonly GroupEvent[], now: number): void => {
  for (const event of events) log.append(actor.number, crypto.randomUUID(), { type: "event", ...event }, now);
};

/** Increments the members version, which devices follow. */
const nextMembersVersion = (log: GroupLog): number => {
  log.updateGroup({ roster: log.group.roster + 1 });
  return log.group.roster;
};

/**
 * Adds a person for the first time or again. Messages from before are invisible to them, except those of memberships whose
 * history they kept, and count as delivered and read.
 */
const attachMember = (
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
 * Ends a membership. Active members keep the history up to the system message that says so, which the caller appends next.
 * Hidden members never learned of the group and keep nothing of it.
 */
const detachMember = (log: GroupLog, member: Member, membersVersion: number, now: number): void => {
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
const findVisibleMember = (log: GroupLog, user: Uuid): Member | undefined => {
  const member = log.members.find(user);
  return member && isVisibleMember(member) ? member : undefined;
};

/** People who are not members yet, without duplicates. */
const filterNewMembers = (log: GroupLog, people: readonly AddedMember[]): AddedMember[] => {
  const seen = new Set<Uuid>();
  return people.filter(({ user }) => {
    const isRepeated = seen.has(user);
    seen.add(user);
    return !isRepeated && !findVisibleMember(log, user);
  });
};

/**
 * Makes hidden members active when somebody they do not block adds them. They see all messages since they were first
 * added. For the other members nothing changes.
 */
const revealHiddenMembers = (log: GroupLog, people: readonly AddedMember[]): void => {
  for (const { user, isHidden } of people) {
    const member = findVisibleMember(log, user);
    if (member && member.state !== "in" && !isHidden)
      log.members.update(member, { state: "in", membershipVersion: member.membershipVersion + 1 });
  }
};

/** Creates a group with its first members, the owner as member 0. */
export const createGroupLog = (
  storage: DurableObjectStorage,
  id: Uuid,
  { owner, name, people }: { owner: Uuid; name: string; people: readonly AddedMember[] },
  now: number,
): ConversationLog | Refusal => {
  const others = [...new Map(people.map((person) => [person.user, person])).values()].filter(
    ({ user }) => user !== owner,
  );
  if (others.length >= groupMembersMax) return { error: "group_full" };
  return storage.transactionSync(() => {
    const log = ConversationLog.create(storage, id, name, now);
    if (!isActiveGroup(log)) throw new Error("the created conversation is not a group");
    const membersVersion = nextMembersVersion(log);
    const first = attachMember(log, { user: owner, isHidden: false }, "owner", membersVersion, now);
    for (const other of others) attachMember(log, other, "member", membersVersion, now);
    appendEvents(log, first, [{ event: "created", name }], now);
    return log;
  });
};

/**
 * Whether a person left by themselves: they are invited and not added. Their "left" entry directly follows the head at
 * which they left. Removed members may be added again.
 */
export const hasLeftByThemselves = (log: GroupLog, user: Uuid): boolean => {
  const member = log.members.find(user);
  const leftEntry = member && !isVisibleMember(member) && log.messages.find(member.visibleAfter + 1);
  if (!leftEntry || leftEntry.sender !== member.number) return false;
  const body = fromBodyColumns(leftEntry.kind, leftEntry.body);
  return body.type === "event" && body.event === "left";
};

const addPeople = (
  log: GroupLog,
  actor: Member,
  { people, invited = [] }: Extract<GroupCommand, { type: "add" }>,
  now: number,
  isAccepted = false,
): GroupChangeResult | Refusal => {
  const added = filterNewMembers(log, people);
  // Left since the Worker asked: the repeated request invites them.
  if (!isAccepted && added.some(({ user }) => hasLeftByThemselves(log, user))) return { error: "unavailable" };
  if (log.members.visible.length + added.length > groupMembersMax) return { error: "group_full" };
  revealHiddenMembers(log, people);
  for (const user of invited) if (!findVisibleMember(log, user)) log.invitations.add(user, now);
  if (added.length === 0) return toGroupChangeResult(log);
  const membersVersion = nextMembersVersion(log);
  const numbers = added.map((person) => attachMember(log, person, "member", membersVersion, now).number);
  appendEvents(log, actor, [{ event: "added", who: numbers }], now);
  return toGroupChangeResult(log);
};

/**
 * Adds an invited person. Of an acceptance and a withdrawal, or the end of the group, the first one counts; a repeated
 * acceptance changes nothing.
 */
export const acceptInvitation = (log: GroupLog, user: Uuid, now: number): GroupChangeResult | Refusal => {
  if (log.members.findActive(user)) return toGroupChangeResult(log);
  const owner = log.members.active.find(({ role }) => isGroupActionAllowed(role, "add"));
  if (!owner || !log.invitations.isOpen(user, now)) return { error: "group_invitation_not_found" };
  return addPeople(log, owner, { type: "add", people: [{ user, isHidden: false }] }, now, true);
};

const expelMember = (log: GroupLog, actor: Member, user: Uuid, now: number): GroupChangeResult | Refusal => {
  const member = log.members.find(user);
  if (!member || member === actor) return { error: "member_not_found" };
  if (!isVisibleMember(member)) return toGroupChangeResult(log);
  detachMember(log, member, nextMembersVersion(log), now);
  appendEvents(log, actor, [{ event: "removed", who: [member.number] }], now);
  return toGroupChangeResult(log);
};

/** Ends the group for everybody: nobody keeps anything of it. */
const endGroup = (log: GroupLog, now: number): GroupChangeResult => {
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

const transferOwnership = (log: GroupLog, actor: Member, user: Uuid, now: number): GroupChangeResult | Refusal => {
  const successor = findVisibleMember(log, user);
  if (successor?.role === "owner") return toGroupChangeResult(log);
  if (!isGroupActionAllowed(actor.role, "handOver")) return { error: "not_allowed" };
  if (!successor) return { error: "member_not_found" };
  const membersVersion = nextMembersVersion(log);
  log.invitations.deleteAll();
  log.members.update(actor, { role: "member", version: membersVersion });
  log.members.update(successor, { role: "owner", version: membersVersion });
  appendEvents(log, actor, [{ event: "owner", who: [successor.number] }], now);
  return toGroupChangeResult(log);
};

const changeGroupName = (log: GroupLog, actor: Member, name: string, now: number): GroupChangeResult => {
  if (name === log.group.name) return toGroupChangeResult(log);
  log.updateGroup({ name, roster: log.group.roster + 1 });
  appendEvents(log, actor, [{ event: "renamed", name }], now);
  return toGroupChangeResult(log);
};

const changeGroupPicture = (
  log: GroupLog,
  actor: Member,
  pictureKey: string | null,
  now: number,
): GroupChangeResult => {
  const replaced = log.group.picture;
  if (pictureKey === replaced) return toGroupChangeResult(log);
  log.updateGroup({ picture: pictureKey, roster: log.group.roster + 1 });
  appendEvents(log, actor, [{ event: pictureKey === null ? "unpictured" : "pictured" }], now);
  return toGroupChangeResult(log, replaced);
};

/**
 * Whether a former member repeats a command whose answer was lost. A person who was never notified of the group counts
 * as a non-member.
 */
export const isAlreadyDone = (log: GroupLog, { state, membershipVersion }: Member, command: GroupCommand): boolean =>
  state !== "in" && membershipVersion > 1 && (command.type === "leave" || (command.type === "end" && log.group.ended));

export const applyGroupCommand = (
  log: GroupLog,
  actor: Member,
  command: GroupCommand,
  now: number,
): GroupChangeResult | Refusal => {
  if (command.type === "leave") return leaveWithSuccessor(log, actor, command.successor, now);
  if (command.type === "handOver") return transferOwnership(log, actor, command.user, now);
  if (!isGroupActionAllowed(actor.role, command.type === "uninvite" ? "add" : command.type))
    return { error: "not_allowed" };
  switch (command.type) {
    case "add":
      return addPeople(log, actor, command, now);
    case "uninvite":
      log.invitations.delete(command.user);
      return toGroupChangeResult(log);
    case "remove":
      return expelMember(log, actor, command.user, now);
    case "rename":
      return changeGroupName(log, actor, command.name, now);
    case "picture":
      return changeGroupPicture(log, actor, command.key, now);
    case "end":
      return endGroup(log, now);
  }
};
