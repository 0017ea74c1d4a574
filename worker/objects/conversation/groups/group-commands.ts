import { isGroupActionAllowed } from "#contract/groups.ts";
import type { Uuid } from "#contract/ids.ts";
import { groupMembersMax } from "#contract/limits/groups.ts";
import type { Refusal } from "#contract/wire/commands.ts";
import { fromBodyColumns } from "#worker/objects/conversation/log/body-columns.ts";
import { ConversationLog } from "#worker/objects/conversation/log/conversation-log.ts";
import { isVisibleMember, type Member } from "#worker/objects/conversation/log/member-table.ts";
import type { AddedMember, GroupChangeResult, GroupCommand } from "#worker/objects/rpc/groups.ts";
import { endGroup, expelMember, leaveWithSuccessor } from "./departures.ts";
import { type GroupLog, isActiveGroup, toGroupChangeResult } from "./group-view.ts";
import { appendEvents, attachMember, findVisibleMember, nextMembersVersion } from "./membership-changes.ts";

/**
 * Group commands. Each runs within the caller's transaction together with its system message, so concurrent commands
 * apply one after the other. Repeating a command that is already done changes nothing.
 */

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

/** Creates a group with its first members, the owner as member 0, in a restore generation. */
export const createGroupLog = (
  storage: DurableObjectStorage,
  id: Uuid,
  {
    owner,
    name,
    people,
    generation,
  }: { owner: Uuid; name: string; people: readonly AddedMember[]; generation: number },
  now: number,
): ConversationLog | Refusal => {
  const others = [...new Map(people.map((person) => [person.user, person])).values()].filter(
    ({ user }) => user !== owner,
  );
  if (others.length >= groupMembersMax) return { error: "group_full" };
  return storage.transactionSync(() => {
    const log = ConversationLog.create(storage, id, { generation, name }, now);
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

/** Makes these people members, and returns those of them who were none. */
const attachPeople = (log: GroupLog, people: readonly AddedMember[], now: number): Member[] | Refusal => {
  const added = filterNewMembers(log, people);
  if (log.members.visible.length + added.length > groupMembersMax) return { error: "group_full" };
  revealHiddenMembers(log, people);
  if (added.length === 0) return [];
  const membersVersion = nextMembersVersion(log);
  return added.map((person) => attachMember(log, person, "member", membersVersion, now));
};

const addPeople = (
  log: GroupLog,
  actor: Member,
  { people, invited = [] }: Extract<GroupCommand, { type: "add" }>,
  now: number,
): GroupChangeResult | Refusal => {
  const added = filterNewMembers(log, people);
  // Left since the Worker asked: the repeated request invites them.
  if (added.some(({ user }) => hasLeftByThemselves(log, user))) return { error: "unavailable" };
  const attached = attachPeople(log, people, now);
  if ("error" in attached) return attached;
  for (const user of invited) if (!findVisibleMember(log, user)) log.invitations.add(user, now);
  const who = attached.map(({ number }) => number);
  if (who.length > 0) appendEvents(log, actor, [{ event: "added", who }], now);
  return toGroupChangeResult(log);
};

/**
 * Adds an invited person. Of an acceptance and a withdrawal, or the end of the group, the first one counts; a repeated
 * acceptance changes nothing.
 */
export const acceptInvitation = (log: GroupLog, user: Uuid, now: number): GroupChangeResult | Refusal => {
  if (log.members.findActive(user)) return toGroupChangeResult(log);
  const hasOwner = log.members.active.some(({ role }) => isGroupActionAllowed(role, "add"));
  if (!hasOwner || !log.invitations.isOpen(user, now)) return { error: "group_invitation_not_found" };
  const attached = attachPeople(log, [{ user, isHidden: false }], now);
  if ("error" in attached) return attached;
  for (const member of attached) appendEvents(log, member, [{ event: "joined" }], now);
  return toGroupChangeResult(log);
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
      // Accepted meanwhile: who withdraws it must not believe that the person stayed outside.
      if (log.members.findActive(command.user)) return { error: "group_invitation_not_found" };
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
