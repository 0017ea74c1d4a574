import { findAttachment } from "#contract/conversations.ts";
import type { Uuid } from "#contract/ids.ts";
import type { Refusal, SendResult } from "#contract/wire/commands.ts";
import type { ConversationLog } from "#worker/objects/conversation/log/conversation-log.ts";
import type { Member } from "#worker/objects/conversation/log/member-table.ts";
import type { CheckedMessage, RefusedMessage } from "#worker/objects/rpc.ts";
import { reviseForAuthor } from "./anonymize-forwards.ts";
import { countBodyBytes, type SentByteBudgets } from "./sent-bytes.ts";

export type AppendRequest = { member: Member; messages: readonly CheckedMessage[] };
/**
 * `isNew`: at least one message was stored now. `isAgain`: at least one was stored before. `unused`: client ids whose
 * stored message does not reference the file sent now.
 */
export type AppendResult = {
  sent: SendResult["sent"];
  refused: RefusedMessage[];
  unused: Uuid[];
  isNew: boolean;
  isAgain: boolean;
};

/**
 * Stores messages within the caller's transaction. A message that is already stored keeps its position whatever its
 * body, and is found even if nobody may write any more. A message that was deleted before it arrived, or whose body was
 * refused, does not affect the others. If only some are accepted, `sent` lists them; the sender sends the rest again
 * and then gets the refusal.
 */
export const appendMessages = (
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
  let isAgain = false;
  for (const { cid, body, refusal: bodyRefusal, isAuthorCorrected } of messages) {
    const existing = log.messages.findByClientId(member.number, cid);
    if (existing) {
      isAgain = true;
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
    } else if (!refusal && log.calls.latest?.id === cid) {
      // The client id belongs to the call, whose log entry uses it.
      refused.push({ cid, error: "invalid_input" });
      cidsWithoutFile.push(cid);
    } else if (!refusal && isFull) {
      refusal = { error: "conversation_full" };
    } else if (!refusal && !sentBytes.take(member, countBodyBytes(body), now)) {
      refusal = { error: "conversation_limited", retryAfterMs: sentBytes.waitMs(member, countBodyBytes(body), now) };
    } else if (!refusal) {
      isNew = true;
      const { seq, at } = log.append(member.number, cid, body, now);
      if (isAuthorCorrected) reviseForAuthor(log, seq);
      sent.push({ cid, seq, at });
    }
  }
  return refusal && sent.length + refused.length === 0
    ? refusal
    : { sent, refused, unused: cidsWithoutFile, isNew, isAgain };
};
