import type { Group } from "#contract/groups.ts";
import type { Uuid } from "#contract/ids.ts";
import { groupTypingMax } from "#contract/limits.ts";
import { isRefusal, type Refusal } from "#contract/wire/commands.ts";
import type { MemberNotifier } from "#worker/objects/conversation/delivery/notifier.ts";
import type { GroupChangeResult, GroupCommand, MemberEntries } from "#worker/objects/rpc.ts";
import { applyGroupCommand, forgetHistory, isAlreadyDone } from "./group-commands.ts";
import {
  type GroupLog,
  isActiveGroup,
  readFormerMemberEntries,
  readMemberEntries,
  toGroupChangeResult,
  toGroupView,
} from "./group-view.ts";

type GroupNotifications = "notifyGroupChanged" | "notify" | "waitUntilDelivered" | "relayTyping" | "schedulePurge";

export const groupNotFound: Refusal = { error: "group_not_found" };

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

  relayTyping(user: Uuid): void {
    const log = this.#log;
    const member = log.members.findActive(user);
    if (!isActiveGroup(log) || !member || log.members.visible.length > groupTypingMax) return;
    const others = log.members.active.filter((other) => other !== member);
    this.#notifier.relayTyping(log, member, others);
  }
}
