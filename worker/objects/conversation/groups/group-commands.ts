import type { EventBody } from "#contract/conversations.ts";
import { groupCan } from "#contract/groups.ts";
import type { Uuid } from "#contract/ids.ts";
import { groupMembersMax, groupReturnDays } from "#contract/limits.ts";
import type { Refusal } from "#contract/wire/commands.ts";
import { ConversationLog } from "#worker/objects/conversation/log/conversation-log.ts";
import { isLeaving, isSeated, type Member } from "#worker/objects/conversation/log/member-table.ts";
import { fromColumns } from "#worker/objects/conversation/log/message-codec.ts";
import type { GroupDeed, GroupDone, Newcomer } from "#worker/objects/rpc.ts";
import { type GroupLog, isGroup, standOfGroup } from "./group-view.ts";

const dayMs = 24 * 3_600_000;

/**
 * What members do to a group. Each is one synchronous go within the caller's transaction, the line that tells of it
 * included: of two that cannot both be, the second finds what the first made of the group. What is done already
 * is done again by doing nothing.
 */
type Event = Omit<EventBody, "type">;

/** The lines that tell of a change. */
const tell = (log: GroupLog, actor: Member, events: readonly Event[], now: number): void => {
  for (const event of events) log.append(actor.number, crypto.randomUUID(), { type: "event", ...event }, now);
};

/** One more change that devices have to hear of. */
const nextRoster = (log: GroupLog): number => {
  log.changeGroup({ roster: log.group.roster + 1 });
  return log.group.roster;
};

/** Somebody comes, for the first time or again: what was said before is not for them, and counts as got and read. */
const seat = (log: GroupLog, { user, quiet }: Newcomer, role: Member["role"], version: number, now: number): Member => {
  const member = log.members.known(user) ?? log.members.add(user);
  const { head } = log;
  log.members.change(member, {
    state: quiet ? (isLeaving(member) ? "quietLeaving" : "quiet") : "in",
    role,
    joined: head,
    since: now,
    delivered: head,
    read: head,
    hidden: head,
    hides: false,
    shown: null,
    turn: member.turn + 1,
    version,
  });
  return member;
};

const unseat = (log: GroupLog, member: Member, version: number): void => {
  log.members.change(member, {
    state: member.state === "quiet" ? "out" : "leaving",
    role: "member",
    joined: log.head,
    turn: member.turn + 1,
    version,
  });
  log.withdrawals.forget(member);
};

/** A member whom everybody takes for one. That somebody hears nothing of the group is not to be seen by what may be done with them. */
const seatedOf = (log: GroupLog, user: Uuid): Member | undefined => {
  const member = log.members.known(user);
  return member && isSeated(member) ? member : undefined;
};

/** Those of them who are not members yet. */
const newcomersOf = (log: GroupLog, people: readonly Newcomer[]): Newcomer[] => {
  const known = new Set<Uuid>();
  return people.filter(({ user }) => {
    const isAgain = known.has(user);
    known.add(user);
    return !isAgain && !seatedOf(log, user);
  });
};

/**
 * Who was seated without a word and is added by somebody they do not block hears of the group from here on, and finds
 * what was said since everybody took them for a member. Nobody else is to see that anything changed.
 */
const wake = (log: GroupLog, people: readonly Newcomer[]): void => {
  for (const { user, quiet } of people) {
    const member = seatedOf(log, user);
    if (member && member.state !== "in" && !quiet) log.members.change(member, { state: "in", turn: member.turn + 1 });
  }
};

/** A group with its first members, the owner before all. */
export const createGroup = (
  storage: DurableObjectStorage,
  id: Uuid,
  { owner, name, people }: { owner: Uuid; name: string; people: readonly Newcomer[] },
  now: number,
): ConversationLog | Refusal => {
  const others = [...new Map(people.map((one) => [one.user, one])).values()].filter(({ user }) => user !== owner);
  if (others.length >= groupMembersMax) return { error: "group_full" };
  return storage.transactionSync(() => {
    const log = ConversationLog.create(storage, id, name, now);
    if (!isGroup(log)) throw new Error("a group that was just made is none");
    const version = nextRoster(log);
    const first = seat(log, { user: owner, quiet: false }, "owner", version, now);
    for (const other of others) seat(log, other, "member", version, now);
    tell(log, first, [{ event: "created", name }], now);
    return log;
  });
};

/**
 * Whether somebody went by themselves lately: the line that tells of it follows the head at which they went. Whom others took
 * out may be brought back at any time.
 */
const hasLeftLately = (log: GroupLog, user: Uuid, now: number): boolean => {
  const member = log.members.known(user);
  const line = member && !isSeated(member) && log.messages.find(member.joined + 1);
  if (!line || line.sender !== member.number || now >= line.at + groupReturnDays * dayMs) return false;
  const body = fromColumns(line.kind, line.body);
  return body.type === "event" && body.event === "left";
};

const add = (log: GroupLog, actor: Member, people: readonly Newcomer[], now: number): GroupDone | Refusal => {
  const newcomers = newcomersOf(log, people);
  if (newcomers.some(({ user }) => hasLeftLately(log, user, now))) return { error: "member_has_left" };
  if (log.members.seated.length + newcomers.length > groupMembersMax) return { error: "group_full" };
  wake(log, people);
  if (newcomers.length === 0) return standOfGroup(log);
  const version = nextRoster(log);
  const who = newcomers.map((newcomer) => seat(log, newcomer, "member", version, now).number);
  tell(log, actor, [{ event: "added", who }], now);
  return standOfGroup(log);
};

const remove = (log: GroupLog, actor: Member, user: Uuid, now: number): GroupDone | Refusal => {
  const member = log.members.known(user);
  if (!member || member === actor) return { error: "member_not_found" };
  if (!isSeated(member)) return standOfGroup(log);
  unseat(log, member, nextRoster(log));
  tell(log, actor, [{ event: "removed", who: [member.number] }], now);
  return standOfGroup(log);
};

const end = (log: GroupLog): GroupDone => {
  const { picture } = log.group;
  const version = nextRoster(log);
  for (const member of [...log.members.seated]) unseat(log, member, version);
  log.changeGroup({ ended: true, picture: null });
  return standOfGroup(log, picture);
};

/** Who follows an owner that leaves: the one they name, else, or where that one hears nothing, whoever has been there longest. */
const heirOf = (log: GroupLog, actor: Member, named: Uuid | undefined): Member | undefined => {
  const others = log.members.present.filter((member) => member !== actor);
  const eldest = others.toSorted((a, b) => a.since - b.since || a.number - b.number)[0];
  return others.find(({ user }) => user === named) ?? eldest;
};

/** Somebody goes; an owner leaves the group to an heir, the last one ends it. */
export const leave = (log: GroupLog, actor: Member, named: Uuid | undefined, now: number): GroupDone | Refusal => {
  const isOwner = actor.role === "owner";
  if (isOwner && named !== undefined && (named === actor.user || !seatedOf(log, named)))
    return { error: "member_not_found" };
  // The last one who hears of it; an owner who hears nothing is nobody to keep it for.
  if (log.members.present.length === 1) return end(log);
  const heir = isOwner ? heirOf(log, actor, named) : undefined;
  const version = nextRoster(log);
  unseat(log, actor, version);
  if (heir) log.members.change(heir, { role: "owner", version });
  const left: Event = { event: "left" };
  tell(log, actor, heir ? [left, { event: "owner", who: [heir.number] }] : [left], now);
  return standOfGroup(log);
};

/** Somebody goes who hears nothing of the group. */
export const goWithout = (log: GroupLog, member: Member, now: number): void => {
  if (!isSeated(member)) return;
  unseat(log, member, nextRoster(log));
  tell(log, member, [{ event: "left" }], now);
};

const handOver = (log: GroupLog, actor: Member, user: Uuid, now: number): GroupDone | Refusal => {
  const heir = seatedOf(log, user);
  if (heir?.role === "owner") return standOfGroup(log);
  if (!groupCan(actor.role, "handOver")) return { error: "not_allowed" };
  if (!heir) return { error: "member_not_found" };
  const version = nextRoster(log);
  log.members.change(actor, { role: "member", version });
  log.members.change(heir, { role: "owner", version });
  tell(log, actor, [{ event: "owner", who: [heir.number] }], now);
  return standOfGroup(log);
};

const rename = (log: GroupLog, actor: Member, name: string, now: number): GroupDone => {
  if (name === log.group.name) return standOfGroup(log);
  log.changeGroup({ name, roster: log.group.roster + 1 });
  tell(log, actor, [{ event: "renamed", name }], now);
  return standOfGroup(log);
};

const picture = (log: GroupLog, actor: Member, key: string | null, now: number): GroupDone => {
  const replaced = log.group.picture;
  if (key === replaced) return standOfGroup(log);
  log.changeGroup({ picture: key, roster: log.group.roster + 1 });
  tell(log, actor, [{ event: key === null ? "unpictured" : "pictured" }], now);
  return standOfGroup(log, replaced);
};

/**
 * Whether what somebody who is no member any more asks for is so already: the answer that told them was lost. Who was
 * never told that they are a member hears what a stranger hears.
 */
export const isDone = (log: GroupLog, { state, turn }: Member, deed: GroupDeed): boolean =>
  state !== "in" && turn > 1 && (deed.type === "leave" || (deed.type === "end" && log.group.ended));

export const carryOut = (log: GroupLog, actor: Member, deed: GroupDeed, now: number): GroupDone | Refusal => {
  if (deed.type === "leave") return leave(log, actor, deed.heir, now);
  if (deed.type === "handOver") return handOver(log, actor, deed.user, now);
  if (!groupCan(actor.role, deed.type)) return { error: "not_allowed" };
  switch (deed.type) {
    case "add":
      return add(log, actor, deed.people, now);
    case "remove":
      return remove(log, actor, deed.user, now);
    case "rename":
      return rename(log, actor, deed.name, now);
    case "picture":
      return picture(log, actor, deed.key, now);
    case "end":
      return end(log);
  }
};
