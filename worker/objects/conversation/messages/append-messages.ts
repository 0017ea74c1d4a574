import { attachmentOf } from "#contract/conversations.ts";
import type { Uuid } from "#contract/ids.ts";
import type { Refusal, SendResult } from "#contract/wire/commands.ts";
import type { ConversationLog } from "#worker/objects/conversation/log/conversation-log.ts";
import type { Member } from "#worker/objects/conversation/log/member-table.ts";
import type { Checked, Refused } from "#worker/objects/rpc.ts";
import { tellUnsigned } from "./anonymize-forwards.ts";
import { bytesOfBody, type SentBytes } from "./sent-bytes.ts";

export type Sending = { member: Member; messages: readonly Checked[] };
/**
 * `isNew` when at least one message was stored now; `isAgain` when one had been stored before. `unused` are those
 * whose file, by what is stored, they do not name.
 */
export type Accepted = {
  sent: SendResult["sent"];
  refused: Refused[];
  unused: Uuid[];
  isNew: boolean;
  isAgain: boolean;
};

/**
 * Stores what may be stored, within the caller's transaction. A message that is there already keeps its place
 * whatever its body says now, and is found even where nobody may write any more. One that was withdrawn before it came,
 * or whose body was refused, keeps nothing else from being taken. When only some can be taken, those are `sent`; the sender asks for the rest again
 * and then hears why not.
 */
export const accept = (
  log: ConversationLog,
  { member, messages }: Sending,
  { sentBytes, isFull }: { sentBytes: SentBytes; isFull: boolean },
  now: number,
): Accepted | Refusal => {
  const sent: SendResult["sent"] = [];
  const refused: Refused[] = [];
  const unused: Uuid[] = [];
  let refusal: Refusal | undefined;
  let isNew = false;
  let isAgain = false;
  for (const { cid, body, refusal: ofBody, unsigned } of messages) {
    const known = log.messages.findSent(member.number, cid);
    if (known) {
      isAgain = true;
      const { file } = attachmentOf(body) ?? {};
      if (file !== undefined && !log.messages.hasAttached(file, known.seq)) unused.push(cid);
      sent.push({ cid, seq: known.seq, at: known.at });
    } else if (log.withdrawals.has(member, cid)) {
      refused.push({ cid, error: "message_withdrawn" });
      unused.push(cid);
    } else if (!refusal && member.state !== "in") {
      refusal = { error: "conversation_not_found" };
    } else if (!refusal && !log.isOpen) {
      refusal = { error: "not_connected" };
    } else if (!refusal && member.blocks) {
      refusal = { error: "contact_blocked" };
    } else if (!refusal && ofBody) {
      refused.push({ cid, ...ofBody });
    } else if (!refusal && log.calls.kept?.id === cid) {
      // That name is the call's: its line is to stand there.
      refused.push({ cid, error: "invalid_input" });
      unused.push(cid);
    } else if (!refusal && isFull) {
      refusal = { error: "conversation_full" };
    } else if (!refusal && !sentBytes.take(member, bytesOfBody(body), now)) {
      refusal = { error: "conversation_limited", retryAfterMs: sentBytes.waitMs(member, bytesOfBody(body), now) };
    } else if (!refusal) {
      isNew = true;
      const { seq, at } = log.append(member.number, cid, body, now);
      if (unsigned) tellUnsigned(log, seq);
      sent.push({ cid, seq, at });
    }
  }
  return refusal && sent.length + refused.length === 0 ? refusal : { sent, refused, unused, isNew, isAgain };
};
