import type { Uuid } from "#contract/ids.ts";
import type { UserRemoval } from "#worker/objects/rpc/groups.ts";
import type { CallController } from "./calls/call-controller.ts";
import type { MemberNotifier } from "./delivery/notifier.ts";
import { removeDeletedUser } from "./groups/remove-deleted-user.ts";
import type { ConversationLog } from "./log/conversation-log.ts";
import { setMemberBlock } from "./messages/blocks.ts";

/**
 * Changes of who may reach whom: connections, blocks and deleted accounts. Each is committed together with its effect
 * on the open call.
 */
export class AccessController {
  readonly #log: ConversationLog;
  readonly #calls: Pick<CallController, "endOpenCall" | "transaction">;
  readonly #notifier: Pick<MemberNotifier, "notify" | "notifyGroupChanged" | "schedulePurge">;

  constructor(
    log: ConversationLog,
    calls: Pick<CallController, "endOpenCall" | "transaction">,
    notifier: Pick<MemberNotifier, "notify" | "notifyGroupChanged" | "schedulePurge">,
  ) {
    this.#log = log;
    this.#calls = calls;
    this.#notifier = notifier;
  }

  openConnection(connection: Uuid): void {
    const log = this.#log;
    if (log.transaction(() => log.openConnection(connection))) this.#notifier.notify(log.members.active);
  }

  closeConnection(connection: Uuid): void {
    const log = this.#log;
    const hasClosed = this.#calls.transaction(() => {
      if (!log.closeConnection(connection)) return false;
      this.#calls.endOpenCall();
      return true;
    });
    if (hasClosed) this.#notifier.notify(log.members.active);
  }

  setBlocked(user: Uuid, isBlocked: boolean): void {
    const log = this.#log;
    const before = log.revision;
    const hasChanged = this.#calls.transaction(() => {
      const member = log.members.findActive(user);
      // The call ends first, so that both members still see its log entry.
      if (isBlocked && member && !member.isBlocking) this.#calls.endOpenCall(member);
      return member !== undefined && setMemberBlock(log, member, isBlocked);
    });
    // A new block notifies nobody. An unblock notifies the other member when it changes what they see: undelivered
    // messages or a frozen read state.
    if (!hasChanged || isBlocked || (log.revision === before && log.head === 0)) return;
    this.#notifier.notify(
      log.members.active.filter((member) => member.user !== user),
      true,
    );
  }

  removeDeletedUser(user: Uuid): UserRemoval {
    const log = this.#log;
    const member = log.members.find(user);
    if (log.group) log.transaction(() => log.invitations.delete(user));
    if (!member) return { replaced: null };
    const { hasChanged, readers, ...removal } = this.#calls.transaction(() => {
      if (member.state === "in") this.#calls.endOpenCall(member);
      return removeDeletedUser(log, member, Date.now());
    });
    if (hasChanged && log.group) this.#notifier.notifyGroupChanged(log, member);
    else if (hasChanged) this.#notifier.notify(log.members.active, true);
    this.#notifier.notify(hasChanged ? readers.filter(({ state }) => state !== "in") : readers);
    if (hasChanged || log.hasNoReaders) this.#notifier.schedulePurge(log);
    return removal;
  }
}
