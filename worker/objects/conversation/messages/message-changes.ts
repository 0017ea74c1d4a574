import type { Uuid } from "#contract/ids.ts";
import type { ReadState } from "#contract/messages/positions.ts";
import { type CommandOf, type CommandResults, isRefusal, type Refusal } from "#contract/wire/commands.ts";
import type { MemberNotifier } from "#worker/objects/conversation/delivery/notifier.ts";
import type { ConversationLog } from "#worker/objects/conversation/log/conversation-log.ts";
import type { Member } from "#worker/objects/conversation/log/member-table.ts";
import { listPinnedFor } from "#worker/objects/conversation/log/pinned-messages.ts";
import type { MemberReadState } from "#worker/objects/rpc/messages.ts";
import { replaceByTombstone, toDeletionResult } from "./deletions.ts";
import { anonymizeForwardsOf } from "./forward-authors.ts";
import { applyPin } from "./pins.ts";
import { applyReaction } from "./reactions.ts";
import { applyReceipts, clearHistoryUpTo, toMemberReadState } from "./read-state.ts";

type ChangeNotifications = "notify" | "notifyDeleted" | "notifyPin" | "notifyReaction" | "scheduleReceipts";

/** Changes to stored messages and to what members have read: commits each, and notifies those who see it. */
export class MessageChanges {
  readonly #log: ConversationLog;
  readonly #notifier: Pick<MemberNotifier, ChangeNotifications>;

  constructor(log: ConversationLog, notifier: Pick<MemberNotifier, ChangeNotifications>) {
    this.#log = log;
    this.#notifier = notifier;
  }

  updateReceipts(member: Member, readState: ReadState, isVisibleToPeers: boolean): MemberReadState {
    const log = this.#log;
    const { lowestReadState } = log.members;
    const { hasMoved, hasRead, isSeenChanged } = log.transaction(() =>
      applyReceipts(log, member, readState, isVisibleToPeers),
    );
    if (isSeenChanged && log.group) this.#notifier.scheduleReceipts(lowestReadState);
    else if (isSeenChanged && log.isOpen && !member.isBlocking)
      this.#notifier.notify(log.members.active.filter((other) => other !== member));
    return toMemberReadState(log, member, hasRead || !hasMoved);
  }

  clearHistory(member: Member, upTo: number): MemberReadState {
    this.#log.transaction(() => clearHistoryUpTo(this.#log, member, upTo));
    return toMemberReadState(this.#log, member, true);
  }

  deleteForEveryone(member: Member, seq: number): CommandResults["deleteForEveryone"] | Refusal {
    const log = this.#log;
    const done = log.transaction(() => replaceByTombstone(log, member, log.findVisible(member, seq)));
    if (isRefusal(done)) return done;
    this.#notifier.notifyDeleted(log, member, done);
    return toDeletionResult(done);
  }

  react(member: Member, command: CommandOf<"react">): CommandResults["react"] | Refusal {
    const log = this.#log;
    const done = log.transaction(() => applyReaction(log, member, command));
    if (isRefusal(done)) return done;
    this.#notifier.notifyReaction(log, member, done);
    return { revision: done.revision };
  }

  pin(member: Member, command: CommandOf<"pinMessage">): CommandResults["pinMessage"] | Refusal {
    const log = this.#log;
    const done = log.transaction(() => applyPin(log, member, command, Date.now()));
    if (isRefusal(done)) return done;
    this.#notifier.notifyPin(log, member, done);
    return { pinned: listPinnedFor(log.pinned, member, log.head) };
  }

  anonymizeForwards(author: Uuid): void {
    this.#notifier.notify(this.#log.transaction(() => anonymizeForwardsOf(this.#log, author)));
  }
}
