import { Buffer } from "node:buffer";
import type { Uuid } from "#contract/ids.ts";
import { findAttachment } from "#contract/messages/body.ts";
import {
  type CommandResults,
  type DeletePendingResult,
  isRefusal,
  type Refusal,
  type SendResult,
} from "#contract/wire/commands.ts";
import { logError } from "#worker/lib/log.ts";
import { buildNotice } from "#worker/objects/conversation/delivery/build-notice.ts";
import { type MemberNotifier, nothingDelivered } from "#worker/objects/conversation/delivery/notifier.ts";
import type { ConversationLog } from "#worker/objects/conversation/log/conversation-log.ts";
import type { Member } from "#worker/objects/conversation/log/member-table.ts";
import { isWithinMembership } from "#worker/objects/conversation/log/memberships.ts";
import type { CheckedMessage, RefusedMessage, SendOutcome } from "#worker/objects/rpc/messages.ts";
import type { InboxPosition } from "#worker/objects/rpc/notices.ts";
import { GroupCommit } from "#worker/objects/shared/group-commit.ts";
import { replaceByTombstone, toDeletionResult } from "./deletions.ts";
import { applyEdit, type MessageEdit } from "./edits.ts";
import { reviseCorrected } from "./forward-authors.ts";
import { checkMentions } from "./mention-checks.ts";
import { checkReply } from "./reply-checks.ts";
import { countBodyBytes, SentByteBudgets } from "./sent-bytes.ts";

type AppendRequest = { member: Member; messages: readonly CheckedMessage[] };
/**
 * `isNew`: at least one message was stored now. `hasRepeats`: at least one was stored before. `cidsWithoutFile`: client
 * ids whose stored message does not reference the file sent now.
 */
type AppendResult = {
  sent: SendResult["sent"];
  refused: RefusedMessage[];
  cidsWithoutFile: Uuid[];
  isNew: boolean;
  hasRepeats: boolean;
};

/**
 * Stores messages within the caller's transaction.
 *
 * - A message that is already stored keeps its position whatever its body, even in a closed conversation.
 * - A message that was deleted before it arrived, or whose body was refused, does not affect the others.
 * - If only some are accepted, `sent` lists them; the sender sends the rest again and then gets the refusal.
 */
const appendMessages = (
  log: ConversationLog,
  { member, messages }: AppendRequest,
  { sentBytes, isFull }: { sentBytes: SentByteBudgets; isFull: boolean },
  now: number,
): AppendResult | Refusal => {
  const sent: SendResult["sent"] = [];
  const refused: RefusedMessage[] = [];
  const cidsWithoutFile: Uuid[] = [];
  let refusal: Refusal | undefined;
  let isNew = false;
  let hasRepeats = false;
  for (const { cid, body, refusal: bodyRefusal, isCorrected } of messages) {
    const stored = checkMentions(log, member, body, now);
    const existing = log.messages.findByClientId(member.number, cid);
    if (existing) {
      hasRepeats = true;
      const { file } = findAttachment(body) ?? {};
      if (file !== undefined && !log.messages.hasAttachment(file, existing.seq)) cidsWithoutFile.push(cid);
      sent.push({ cid, seq: existing.seq, at: existing.at });
    } else if (log.pendingDeletions.has(member, cid)) {
      refused.push({ cid, error: "message_withdrawn" });
      cidsWithoutFile.push(cid);
    } else if (!refusal && member.state !== "in") {
      refusal = { error: "conversation_not_found" };
    } else if (!refusal && !log.isOpen) {
      refusal = { error: "not_connected" };
    } else if (!refusal && member.isBlocking) {
      refusal = { error: "contact_blocked" };
    } else if (!refusal && bodyRefusal) {
      refused.push({ cid, ...bodyRefusal });
    } else if (!refusal && isRefusal(stored)) {
      refused.push({ cid, ...stored });
      if (findAttachment(body)) cidsWithoutFile.push(cid);
    } else if (!refusal && log.calls.latest?.id === cid) {
      // The client id belongs to the call, whose log entry uses it.
      refused.push({ cid, error: "invalid_input" });
      cidsWithoutFile.push(cid);
    } else if (!refusal && isFull) {
      refusal = { error: "conversation_full" };
    } else if (!refusal && !sentBytes.take(member, countBodyBytes(body), now)) {
      refusal = { error: "conversation_limited", retryAfterMs: sentBytes.waitMs(member, countBodyBytes(body), now) };
    } else if (!refusal && !isRefusal(stored)) {
      isNew = true;
      const storedBody = checkReply(log, member, stored);
      const { seq, at } = log.append(member.number, cid, storedBody, now);
      if (isCorrected || storedBody !== body) reviseCorrected(log, seq);
      sent.push({ cid, seq, at });
    }
  }
  return refusal && sent.length + refused.length === 0
    ? refusal
    : { sent, refused, cidsWithoutFile, isNew, hasRepeats };
};

type AppenderNotifier = Pick<MemberNotifier, "notify" | "notifySent" | "confirmDelivered" | "notifyDeleted">;

/** Appends sent messages to the conversation with group commit, edits them, and notifies the members. */
export class MessageAppender {
  readonly #log: ConversationLog;
  readonly #notifier: AppenderNotifier;
  readonly #sentBytes: SentByteBudgets;
  readonly #commits = new GroupCommit<AppendRequest, AppendResult | Refusal>((batch) => this.#commit(batch));

  /** `factor`: multiple of the production send limit. */
  constructor(log: ConversationLog, notifier: AppenderNotifier, factor: number) {
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
    const delivered = position.epoch === log.epoch ? position : nothingDelivered;
    this.#notifier.confirmDelivered(member, delivered);
    const result = await this.#commits.add({ member, messages });
    if (isRefusal(result)) return result;
    const { isNew: _, hasRepeats, ...outcome } = result;
    return { epoch: log.epoch, ...outcome, notice: buildNotice(log, member, delivered, hasRepeats) };
  }

  /**
   * Deletes a message by client id. If it has not arrived yet, the id is stored so that the message is refused later.
   */
  deletePending(member: Member, cid: Uuid): DeletePendingResult | Refusal {
    const log = this.#log;
    const now = Date.now();
    const existing = log.messages.findByClientId(member.number, cid);
    if (existing) {
      // Members cannot delete messages of a membership whose history they deleted.
      const row = isWithinMembership(member, log.head, existing.seq) ? log.messages.find(existing.seq) : undefined;
      const deletion = log.transaction(() => replaceByTombstone(log, member, row));
      if (isRefusal(deletion)) return deletion;
      this.#notifier.notifyDeleted(log, member, deletion);
      return { ...toDeletionResult(deletion), place: existing };
    }
    log.transaction(() => log.pendingDeletions.add(member, cid, now));
    return { revision: log.revision, place: null };
  }

  /** Replaces the text of a member's own message. */
  edit(member: Member, edit: MessageEdit): CommandResults["editMessage"] | Refusal {
    const log = this.#log;
    const now = Date.now();
    const takeBytes = (text: string): Refusal | undefined => {
      if (log.isFull) return { error: "conversation_full" };
      const bytes = Buffer.byteLength(text);
      return this.#sentBytes.take(member, bytes, now)
        ? undefined
        : { error: "conversation_limited", retryAfterMs: this.#sentBytes.waitMs(member, bytes, now) };
    };
    const result = log.transaction(() => applyEdit(log, member, edit, takeBytes, now));
    if (isRefusal(result)) return result;
    const { revision, edited, isNew, isUndelivered } = result;
    if (isNew) this.#notifier.notify(isUndelivered ? [member] : log.members.active);
    return { revision, edited };
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
