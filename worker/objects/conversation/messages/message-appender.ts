import type { Uuid } from "#contract/ids.ts";
import { isRefusal, type Refusal, type WithdrawResult } from "#contract/wire/commands.ts";
import { logError } from "#worker/lib/log.ts";
import { buildNotice } from "#worker/objects/conversation/delivery/build-notice.ts";
import { type MemberNotifier, nothingDelivered } from "#worker/objects/conversation/delivery/notifier.ts";
import type { ConversationLog } from "#worker/objects/conversation/log/conversation-log.ts";
import type { Member } from "#worker/objects/conversation/log/member-table.ts";
import type { CheckedMessage, InboxPosition, SendOutcome } from "#worker/objects/rpc.ts";
import { GroupCommit } from "#worker/objects/shared/group-commit.ts";
import { type AppendRequest, type AppendResult, appendMessages } from "./append-messages.ts";
import { replaceByTombstone } from "./deletions.ts";
import { SentByteBudgets } from "./sent-bytes.ts";

/** Appends sent messages to the conversation with group commit and notifies the members. */
export class MessageAppender {
  readonly #log: ConversationLog;
  readonly #notifier: Pick<MemberNotifier, "notifySent" | "confirmDelivered" | "notifyDeleted" | "handleNewEpoch">;
  readonly #sentBytes: SentByteBudgets;
  readonly #commits = new GroupCommit<AppendRequest, AppendResult | Refusal>((batch) => this.#commit(batch));

  /** `factor`: multiple of the production send limit. */
  constructor(
    log: ConversationLog,
    notifier: Pick<MemberNotifier, "notifySent" | "confirmDelivered" | "notifyDeleted" | "handleNewEpoch">,
    factor: number,
  ) {
    this.#log = log;
    this.#sentBytes = new SentByteBudgets(log.sql, factor);
    this.#notifier = notifier;
  }

  /** Stores messages. The result brings the sender's channel from `position` to the current head. */
  async send(
    member: Member,
    messages: readonly CheckedMessage[],
    position: InboxPosition,
  ): Promise<SendOutcome | Refusal> {
    const log = this.#log;
    if (position.epoch === log.epoch && position.head > log.head) this.#renewEpoch();
    const delivered = position.epoch === log.epoch ? position : nothingDelivered;
    this.#notifier.confirmDelivered(member, delivered);
    const result = await this.#commits.add({ member, messages });
    if (isRefusal(result)) return result;
    const { isNew: _, isAgain, ...outcome } = result;
    return { epoch: log.epoch, ...outcome, notice: buildNotice(log, member, delivered, isAgain) };
  }

  /** Renews the epoch: a channel has messages that this log lacks, so the log was restored from an older copy. */
  #renewEpoch(): void {
    const log = this.#log;
    log.transaction(() => log.renewEpoch());
    this.#notifier.handleNewEpoch(log);
  }

  /**
   * Deletes a message by client id. If it has not arrived yet, the id is stored so that the message is refused later.
   */
  deletePending(member: Member, cid: Uuid): WithdrawResult | Refusal {
    const log = this.#log;
    const now = Date.now();
    const existing = log.messages.findByClientId(member.number, cid);
    if (existing) {
      // Members cannot delete messages they sent before they rejoined.
      const row = existing.seq > member.visibleAfter ? log.messages.find(existing.seq) : undefined;
      const deletion = log.transaction(() => replaceByTombstone(log, member, row));
      if (isRefusal(deletion)) return deletion;
      this.#notifier.notifyDeleted(log, member, deletion);
      return { revision: deletion.revision, place: existing };
    }
    log.transaction(() => log.pendingDeletions.add(member, cid, now));
    return { revision: log.revision, place: null };
  }

  /**
   * Commits all requests together. If that fails, commits each on its own, so that one bad request does not affect the
   * others.
   */
  #commit(batch: AppendRequest[]): (AppendResult | Refusal)[] {
    const log = this.#log;
    const now = Date.now();
    const limits = { sentBytes: this.#sentBytes, isFull: log.isFull };
    const appendOne = (request: AppendRequest) => appendMessages(log, request, limits, now);
    let results: (AppendResult | Refusal)[];
    try {
      results = log.transaction(() => batch.map(appendOne));
    } catch (error) {
      logError("committing messages failed", error);
      if (batch.length === 1) return [{ error: "unavailable" }];
      return batch.flatMap((request) => this.#commit([request]));
    }
    const authors = new Set<number>();
    for (const [index, result] of results.entries()) {
      const author = batch[index]?.member.number;
      if (author !== undefined && !isRefusal(result) && result.isNew) authors.add(author);
    }
    if (authors.size > 0) this.#notifier.notifySent(log, authors);
    return results;
  }
}
