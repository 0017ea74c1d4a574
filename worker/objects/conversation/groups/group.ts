import { type Group, isGroupActionAllowed } from "#contract/groups.ts";
import type { Uuid } from "#contract/ids.ts";
import { formerMembersListedMax, groupTypingMax } from "#contract/limits/groups.ts";
import { isRefusal, type Refusal } from "#contract/wire/commands.ts";
import type { MemberNotifier } from "#worker/objects/conversation/delivery/notifier.ts";
import type { GroupInvitationEntry } from "#worker/objects/conversation/log/invitation-table.ts";
import { isVisibleMember, type Member } from "#worker/objects/conversation/log/member-table.ts";
import type {
  GroupChangeResult,
  GroupCommand,
  InvitingGroup,
  MemberEntries,
  NewMemberCheck,
} from "#worker/objects/rpc/groups.ts";
import { acceptInvitation, applyGroupCommand, hasLeftByThemselves, isAlreadyDone } from "./group-commands.ts";
import {
  type GroupLog,
  isActiveGroup,
  readFormerMemberEntries,
  readMemberEntries,
  toGroupChangeResult,
  toGroupView,
} from "./group-view.ts";
import { forgetHistory } from "./membership-changes.ts";

type GroupNotifications = "notifyGroupChanged" | "notify" | "waitUntilDelivered" | "relayTyping" | "schedulePurge";

export const groupNotFound: Refusal = { error: "group_not_found" };
export const invitationNotFound: Refusal = { error: "group_invitation_not_found" };

/** Group operations of a conversation: commands, views and notifications. The group may have ended. */
export class GroupController {
  readonly #log: GroupLog;
  readonly #notifier: Pick<MemberNotifier, GroupNotifications>;

  constructor(log: GroupLog, notifier: Pick<MemberNotifier, GroupNotifications>) {
    this.#log = log;
    this.#notifier = notifier;
  }

  /** Confirms the creation of the group, now or before. Refused if it belongs to another owner. */
  async confirmCreation(owner: Uuid, isNew: boolean): Promise<GroupChangeResult | Refusal> {
    const log = this.#log;
    const member = log.members.findActive(owner);
    if (!isActiveGroup(log) || member?.number !== 0) return { error: "group_exists" };
    if (isNew) this.#notifier.notifyGroupChanged(log, member);
    else this.#notifier.notify([member], true);
    await this.#notifier.waitUntilDelivered(member);
    return toGroupChangeResult(log);
  }

  async runCommand(user: Uuid, command: GroupCommand): Promise<GroupChangeResult | Refusal> {
    const log = this.#log;
    const member = log.members.find(user);
    if (!member) return groupNotFound;
    if (isAlreadyDone(log, member, command)) return toGroupChangeResult(log);
    if (!isActiveGroup(log) || member.state !== "in") return groupNotFound;
    const { roster: versionBefore } = log.group;
    const hiddenMembers = log.members.visible.filter(({ state }) => state !== "in");
    const result = log.transaction(() => applyGroupCommand(log, member, command, Date.now()));
    if (isRefusal(result)) return result;
    const isChanged = result.roster !== versionBefore;
    if (isChanged) this.#notifier.notifyGroupChanged(log, member);
    this.#notifier.notify(
      hiddenMembers.filter(({ state }) => state === "in"),
      true,
    );
    if (isChanged) await this.#notifier.waitUntilDelivered(member);
    return result;
  }

  /** The caller as an active member who may add people. */
  #findAdder(user: Uuid): Member | Refusal {
    const member = this.#log.members.findActive(user);
    if (!isActiveGroup(this.#log) || !member) return groupNotFound;
    return isGroupActionAllowed(member.role, "add") ? member : { error: "not_allowed" };
  }

  checkNewMembers(user: Uuid, people: readonly Uuid[], now = Date.now()): NewMemberCheck | Refusal {
    const log = this.#log;
    const adder = this.#findAdder(user);
    if ("error" in adder) return adder;
    const isMember = new Set(log.members.visible.map((member) => member.user));
    const others = people.filter((person) => !isMember.has(person));
    const invitations = log.invitations.list(now);
    const invited = invitations.filter((invitation) => others.includes(invitation.user));
    return {
      members: people.filter((person) => isMember.has(person)),
      toInvite: others.filter((person) => hasLeftByThemselves(log, person)),
      invited,
      otherInvitations: invitations.length - invited.length,
    };
  }

  listCandidates(user: Uuid, now = Date.now()): { invited: GroupInvitationEntry[]; former: Uuid[] } | Refusal {
    const { members, invitations } = this.#log;
    const adder = this.#findAdder(user);
    if ("error" in adder) return adder;
    const former = members.all.filter((member) => !isVisibleMember(member)).sort((a, b) => b.version - a.version);
    return {
      invited: invitations.list(now),
      former: former.slice(0, formerMembersListedMax).map((member) => member.user),
    };
  }

  /** Group as an invited person may see it: nothing of its messages, and of its members their own contacts. */
  findInvitation(user: Uuid, contacts: readonly Uuid[], now = Date.now()): InvitingGroup | Refusal {
    const log = this.#log;
    const owner = log.members.active.find(({ role }) => isGroupActionAllowed(role, "add"));
    if (!isActiveGroup(log) || !owner || log.members.findActive(user) || !log.invitations.isOpen(user, now))
      return invitationNotFound;
    const { visible } = log.members;
    const known = new Set(contacts);
    return {
      owner: owner.user,
      name: log.group.name,
      count: visible.length,
      contacts: visible.flatMap((member) => (known.has(member.user) ? [member.user] : [])),
    };
  }

  async answerInvitation(user: Uuid, isAccepted: boolean, now = Date.now()): Promise<GroupChangeResult | Refusal> {
    const log = this.#log;
    if (!isActiveGroup(log)) return invitationNotFound;
    if (!isAccepted) {
      if (log.members.findActive(user) || !log.invitations.isOpen(user, now)) return invitationNotFound;
      log.transaction(() => log.invitations.decline(user));
      return toGroupChangeResult(log);
    }
    const { roster: versionBefore } = log.group;
    const result = log.transaction(() => acceptInvitation(log, user, now));
    const member = log.members.findActive(user);
    if (isRefusal(result) || !member) return result;
    if (result.roster !== versionBefore) this.#notifier.notifyGroupChanged(log, member);
    // Also a hidden member who becomes an active one, or who accepts again after a lost answer
    else this.#notifier.notify([member], true);
    await this.#notifier.waitUntilDelivered(member);
    return result;
  }

  getGroup(user: Uuid): Group | Refusal {
    const member = this.#log.members.findActive(user);
    return isActiveGroup(this.#log) && member ? toGroupView(this.#log, member) : groupNotFound;
  }

  listMembers(user: Uuid, query: Parameters<typeof readMemberEntries>[2]): MemberEntries | Refusal {
    const reader = this.#log.members.findReader(user);
    if (!reader) return groupNotFound;
    if (reader.state === "in")
      return isActiveGroup(this.#log) ? readMemberEntries(this.#log, reader, query) : groupNotFound;
    return reader.kept && "numbers" in query
      ? readFormerMemberEntries(this.#log, reader, reader.kept, query.numbers)
      : groupNotFound;
  }

  findMembers(user: Uuid, people: readonly Uuid[]): Uuid[] {
    if (!isActiveGroup(this.#log) || !this.#log.members.findActive(user)) return [];
    return this.#log.members.visible.filter((member) => people.includes(member.user)).map((member) => member.user);
  }

  /** Deletes the history that a former member kept. The notice that follows deletes it on their devices. */
  forgetHistory(user: Uuid): { hidden: number } | Refusal {
    const log = this.#log;
    const member = log.members.findReader(user);
    if (!member || member.state === "in") return { error: "conversation_not_found" };
    const hidden = log.headFor(member);
    log.transaction(() => forgetHistory(log, member));
    this.#notifier.notify([member]);
    this.#notifier.schedulePurge(log);
    return { hidden };
  }

  relayTyping(user: Uuid, hiddenFrom: readonly Uuid[]): void {
    const log = this.#log;
    const member = log.members.findActive(user);
    if (!isActiveGroup(log) || !member || log.members.visible.length > groupTypingMax) return;
    const others = log.members.active.filter((other) => other !== member && !hiddenFrom.includes(other.user));
    this.#notifier.relayTyping(log, member, others);
  }
}
