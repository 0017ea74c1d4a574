import type { CommandOf, Refusal, SendResult } from "../../contract/commands";
import { sendBurst, sendPerSecond } from "../../contract/limits";
import type { ConversationLog, Member } from "./conversation-log";
import { TokenBucket } from "./token-bucket";

export type Sending = { member: Member; messages: CommandOf<"send">["messages"] };
/** `isNew` when at least one message was stored now; `isAgain` when one had been stored before. */
export type Accepted = { sent: SendResult["sent"]; isNew: boolean; isAgain: boolean };

/** Each member's flood protection, as long as the object lives. */
export class SendLimits {
  readonly #buckets = new Map<number, TokenBucket>();

  of(member: Member): TokenBucket {
    const bucket = this.#buckets.get(member.number) ?? new TokenBucket(sendBurst, sendPerSecond);
    this.#buckets.set(member.number, bucket);
    return bucket;
  }
}

/**
 * Stores what may be stored, within the caller's transaction. A message that is there already keeps its place
 * whatever its body says now, and is found even where nobody may write any more. When only some can be taken,
 * those are `sent`; the sender asks for the rest again and then hears why not.
 */
export const accept = (
  log: ConversationLog,
  { member, messages }: Sending,
  bucket: TokenBucket,
  now: number,
): Accepted | Refusal => {
  const sent: SendResult["sent"] = [];
  let refusal: Refusal | undefined;
  let isNew = false;
  let isAgain = false;
  for (const { cid, body } of messages) {
    const known = log.findSent(member.number, cid);
    if (known) {
      isAgain = true;
      sent.push({ cid, seq: known.seq, at: known.at });
    } else if (!refusal && !log.isOpen) {
      refusal = { error: "not_connected" };
    } else if (!refusal && !bucket.take(now)) {
      refusal = { error: "rate_limited", retryAfterMs: bucket.waitMs(now) };
    } else if (!refusal) {
      isNew = true;
      const { seq, at } = log.append(member.number, cid, body, now);
      sent.push({ cid, seq, at });
    }
  }
  return refusal && sent.length === 0 ? refusal : { sent, isNew, isAgain };
};
