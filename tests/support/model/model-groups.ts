import * as v from "valibot";
import type { CallBody } from "#contract/calls/call.ts";
import {
  type Group,
  GroupChange,
  isGroupActionAllowed,
  type MemberPage,
  MemberQuery,
  NewGroup,
  NewMembers,
  NewOwner,
} from "#contract/groups.ts";
import { type ConversationId, createUuid, type Uuid } from "#contract/ids.ts";
import { memberPageRows } from "#contract/limits/groups.ts";
import type { EventBody } from "#contract/messages/body.ts";
import type { Refusal } from "#contract/wire/commands.ts";
import type { HttpRequest } from "#contract/wire/http-commands.ts";
import { ModelInboxes, newEpoch } from "./model-inboxes.ts";
import { buildInboxRow, type GroupLog, isGroup, type Log, type LogMember, newMember } from "./model-log.ts";

type Event = Omit<EventBody, "type">;
type GroupCommand =
  | { type: "add"; users: readonly Uuid[] }
  | { type: "remove"; user: Uuid }
  | { type: "leave"; heir?: Uuid | undefined }
  | { type: "rename"; name: string }
  | { type: "picture"; key: string | null }
  | { type: "handOver"; user: Uuid }
  | { type: "end" };

/**
 * Groups of the model. A command applies as a whole or is refused. All members are notified, and a removed member gets
 * a last notice.
 */
export class ModelGroups extends ModelInboxes {
  /** Set to have requests about groups refused. */
  refuseGroup: (user: Uuid, request: HttpRequest) => Refusal | undefined = () => undefined;
  membersPerPage = memberPageRows;
  /** HTTP requests about groups, for tests that count them. */
  readonly groupRequests: { user: Uuid; request: HttpRequest }[] = [];

  createGroup(owner: Uuid, name: string, members: readonly Uuid[], id: Uuid = createUuid()): Uuid {
    const group = { name, picture: null, roster: 1, founder: owner };
    const log: GroupLog = {
      id,
      epoch: newEpoch(),
      open: true,
      revision: 0,
      messages: [],
      deletedPending: new Set(),
      members: new Map(),
      group,
      former: new Map(),
    };
    this.logs.set(id, log);
    for (const user of [owner, ...members]) this.#addMember(log, user);
    (log.members.get(owner) as LogMember).role = "owner";
    this.#appendEvent(log, owner, { event: "created", name });
    for (const user of log.members.keys()) this.pushRow(user, log);
    return id;
  }

  /** Applies a command. Returns the refusal, if any. */
  changeGroup(user: Uuid, id: Uuid, command: GroupCommand): Refusal | undefined {
    const log = this.#findGroup(user, id);
    const me = log?.members.get(user);
    if (!log || !me) return { error: "group_not_found" };
    if (command.type !== "leave" && !isGroupActionAllowed(me.role, command.type)) return { error: "not_allowed" };
    const before = new Set(log.members.keys());
    const events = this.#applyCommand(log, user, command);
    if (!Array.isArray(events)) return events;
    if (events.length === 0 && command.type !== "end") return undefined;
    for (const event of events) this.#appendEvent(log, user, event, before);
    for (const member of log.members.keys()) this.pushRow(member, log);
    return undefined;
  }

  /** Answers a request as the Worker's routes do. */
  handleGroupRequest(user: Uuid, request: HttpRequest): unknown {
    this.groupRequests.push({ user, request });
    const refusal = this.refuseGroup(user, request);
    if (refusal) return refusal;
    const { method, path, body } = request;
    const url = new URL(path, "http://model");
    const [, , , id = "", what, other] = url.pathname.split("/");
    // Everybody can be added here.
    const withInvited = <Answer extends object>(answer: Answer) =>
      "error" in answer ? answer : { ...answer, invited: [] };
    if (id === "") return withInvited(this.#create(user, v.parse(NewGroup, body)));
    const answer = (command: GroupCommand) => this.changeGroup(user, id, command) ?? this.#describe(user, id);
    if (what === undefined && method === "PATCH") return answer({ type: "rename", ...v.parse(GroupChange, body) });
    if (what === undefined && method === "DELETE") return this.changeGroup(user, id, { type: "end" });
    if (what === "owner") return answer({ type: "handOver", user: v.parse(NewOwner, body).user_id });
    if (what === "picture")
      return answer({ type: "picture", key: method === "PUT" ? `${id}_${this.#size(body)}` : null });
    if (method === "POST") return withInvited(answer({ type: "add", users: v.parse(NewMembers, body).members }));
    if (method === "DELETE" && other !== undefined)
      return this.changeGroup(
        user,
        id,
        other === user
          ? { type: "leave", heir: url.searchParams.get("heir") ?? undefined }
          : { type: "remove", user: other },
      );
    return this.#listMembers(user, id, v.parse(MemberQuery, Object.fromEntries(url.searchParams)));
  }

  #size(body: unknown): number {
    if (!(body instanceof Blob)) throw new Error("a picture is sent as it is");
    return body.size;
  }

  #create(user: Uuid, { id, name, members }: v.InferOutput<typeof NewGroup>): Group | Refusal {
    if (!this.logs.has(id)) this.createGroup(user, name, members, id);
    const log = this.#findGroup(user, id);
    return log?.group.founder === user ? this.#describe(user, id) : { error: "group_exists" };
  }

  #describe(user: Uuid, id: Uuid): Group | Refusal {
    const log = this.#findGroup(user, id);
    const card = log && buildInboxRow(log, user, 0).group;
    if (!log || !card) return { error: "group_not_found" };
    return { id, ...card, created_by: log.group.founder, created_at: 1 };
  }

  #findGroup(user: Uuid, id: Uuid): GroupLog | undefined {
    const log = this.logs.get(id);
    return isGroup(log) && log.members.has(user) ? log : undefined;
  }

  #listMembers(user: Uuid, id: Uuid, { numbers, since = 0, after = 0 }: MemberQuery): MemberPage | Refusal {
    const log = this.#findGroup(user, id);
    if (!log) return { error: "group_not_found" };
    const seated = [...log.members].map(([one, member]) => ({ one, member, left: false }));
    const former = [...log.former].map(([one, { member }]) => ({ one, member, left: true }));
    const all = [...seated, ...former].sort((a, b) => a.member.number - b.member.number);
    const found = all.filter(({ member, left }) =>
      numbers
        ? numbers.includes(member.number)
        : member.number >= after && member.version > since && (since > 0 || !left),
    );
    const page = found.slice(0, this.membersPerPage);
    return {
      roster: log.group.roster,
      count: log.members.size,
      members: page.map(({ one, member: { number, role, since: from }, left }) => ({
        number,
        role,
        since: from,
        left,
        profile: this.profiles.get(one) ?? null,
      })),
      after: page.length < found.length ? (page.at(-1)?.member.number ?? 0) + 1 : null,
    };
  }

  #applyCommand(log: GroupLog, user: Uuid, command: GroupCommand): Event[] | Refusal {
    const { members: marks, group } = log;
    switch (command.type) {
      case "add": {
        const newcomers = [...new Set(command.users)].filter((one) => !marks.has(one));
        if (newcomers.length === 0) return [];
        group.roster++;
        return [{ event: "added", who: newcomers.map((one) => this.#addMember(log, one).number) }];
      }
      case "remove": {
        const member = marks.get(command.user);
        if (command.user === user) return { error: "member_not_found" };
        if (!member) return log.former.has(command.user) ? [] : { error: "member_not_found" };
        group.roster++;
        this.#removeMember(log, command.user, member);
        return [{ event: "removed", who: [member.number] }];
      }
      case "leave":
        return this.#leave(log, user, command.heir);
      case "rename":
        if (command.name === group.name) return [];
        Object.assign(group, { name: command.name, roster: group.roster + 1 });
        return [{ event: "renamed", name: command.name }];
      case "picture":
        if (command.key === group.picture) return [];
        Object.assign(group, { picture: command.key, roster: group.roster + 1 });
        return [{ event: command.key === null ? "unpictured" : "pictured" }];
      case "handOver":
        return marks.has(command.user)
          ? this.#transferOwnership(log, user, command.user)
          : { error: "member_not_found" };
      case "end":
        group.roster++;
        for (const [one, member] of [...marks]) this.#removeMember(log, one, member);
        return [];
    }
  }

  #leave(log: GroupLog, user: Uuid, named: Uuid | undefined): Event[] | Refusal {
    const me = log.members.get(user) as LogMember;
    const others = [...log.members].filter(([one]) => one !== user).sort(([, a], [, b]) => a.since - b.since);
    const heir = named ?? others[0]?.[0];
    const left: Event = { event: "left" };
    if (me.role !== "owner" || heir === undefined) {
      log.group.roster++;
      this.#removeMember(log, user, me);
      return [left];
    }
    if (!log.members.has(heir)) return { error: "member_not_found" };
    const [owner] = this.#transferOwnership(log, user, heir);
    this.#removeMember(log, user, me);
    return owner ? [left, owner] : [left];
  }

  #transferOwnership({ members: marks, group }: GroupLog, user: Uuid, heir: Uuid): Event[] {
    if (heir === user) return [];
    const version = ++group.roster;
    Object.assign(marks.get(user) as LogMember, { role: "member", version });
    Object.assign(marks.get(heir) as LogMember, { role: "owner", version });
    return [{ event: "owner", who: [marks.get(heir)?.number ?? 0] }];
  }

  /** Adds a member, new or returning, who sees the group from now on. */
  #addMember(log: GroupLog, user: Uuid): LogMember {
    const head = log.messages.length;
    const number = log.former.get(user)?.member.number ?? log.members.size + log.former.size;
    const { muted, othersReadState } = log.former.get(user)?.member ?? newMember();
    const readState = { delivered: head, read: head, clearedUpTo: head };
    const place = { number, muted, othersReadState, since: Date.now() + number / 1_000, version: log.group.roster };
    const member = { ...newMember(), ...readState, ...place };
    log.former.delete(user);
    log.members.set(user, member);
    return member;
  }

  #removeMember(log: GroupLog, user: Uuid, member: LogMember): void {
    const last = buildInboxRow(log, user, 0);
    log.members.delete(user);
    const gone = { ...last, gone: true, open: false, preview: null, unread: 0, kept: false };
    log.former.set(user, { member: { ...member, role: "member", version: log.group.roster }, gone });
    this.pushRow(user, log);
  }

  /** Appends the call entry of a person's call. */
  addCallEntry(user: Uuid, conversation: ConversationId, line: Omit<CallBody, "type" | "id">): Uuid {
    const log = this.log(conversation);
    const id = createUuid();
    const seq = log.messages.length + 1;
    const at = Math.max(Date.now(), (log.messages.at(-1)?.at ?? 0) + 1);
    const sender = log.members.get(user)?.number ?? 0;
    log.messages.push({ seq, at, sender, body: { type: "call", id, ...line }, cid: id, author: user, revision: 0 });
    for (const member of log.members.keys()) this.pushMessage(member, log, seq, undefined);
    return id;
  }

  /** Appends the system message of an owner who deleted a message of another member. */
  protected recordOwnerDeletion(log: GroupLog, owner: Uuid, author: number): void {
    this.#appendEvent(log, owner, { event: "deleted", who: [author] }, new Set(log.members.keys()));
  }

  /** Appends the system message of a pin, in any conversation, and pushes the row with the pinned messages. */
  protected recordPin(log: Log, actor: Uuid): void {
    this.#appendEvent(log, actor, { event: "pinned" }, new Set(log.members.keys()));
    for (const member of log.members.keys()) this.pushRow(member, log);
  }

  /** Appends a system message for the earlier members. A new member receives the whole row instead. */
  #appendEvent(log: Log, actor: Uuid, event: Event, recipients: ReadonlySet<Uuid> = new Set()): void {
    const seq = log.messages.length + 1;
    const at = Math.max(Date.now(), (log.messages.at(-1)?.at ?? 0) + 1);
    const sender = (log.members.get(actor) ?? log.former?.get(actor)?.member)?.number ?? 0;
    const body = { type: "event", ...event } as const;
    log.messages.push({ seq, at, sender, body, cid: createUuid(), author: actor, revision: 0 });
    for (const member of log.members.keys()) if (recipients.has(member)) this.pushMessage(member, log, seq, undefined);
  }
}
