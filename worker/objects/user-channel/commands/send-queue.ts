import { isPermanentError } from "#contract/errors.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import { groupCommitMs, sendStallMs } from "#contract/limits/delivery.ts";
import { sendBatchMax, sendRetryMessages, sendTokenLength } from "#contract/limits/messages.ts";
import type { Body } from "#contract/messages/body.ts";
import { isRefusal, type Refusal, type SendResult } from "#contract/wire/commands.ts";
import { logError } from "#worker/lib/log.ts";
import type { RefusedMessage } from "#worker/objects/rpc/messages.ts";
import type { BodyCheck } from "./body-checks.ts";

export type SentMessage = SendResult["sent"][number];
/**
 * A message waiting for its conversation. `source` and `ref`: the socket that sent it and its request number. `check`
 * verifies the body if necessary.
 */
export type QueuedMessage<Source> = {
  cid: Uuid;
  body: Body;
  check: BodyCheck | undefined;
  source?: Source;
  ref: number;
  settle: (outcome: SentMessage | Refusal) => void;
};
/** Outcome of at least one message of a batch. */
export type BatchOutcome = { sent: readonly SentMessage[]; refused: readonly RefusedMessage[] };
type DeliverBatch<Source> = (
  conversation: ConversationId,
  batch: readonly QueuedMessage<Source>[],
) => Promise<BatchOutcome | Refusal>;

/** Remaining messages that this person may send. A long text counts as several (`countSendTokens`). */
type SendLimit = { take(tokens: number): boolean; waitMs(tokens: number): number };

/** Tokens of a message: one, and one more for every `sendTokenLength` characters of its text. */
const countSendTokens = (body: Body): number =>
  1 + Math.floor(("text" in body ? (body.text?.length ?? 0) : 0) / sendTokenLength);

const pauseMaxMs = 12; // between two batches
const pausedQueuesMax = 1_000; // above it an empty queue ends without a pause: an isolate has at most 10,000 timers
const queuedMax = 1_000; // messages of one person over all conversations; honest devices have far fewer in flight

/**
 * Outgoing messages of a person, one queue for each conversation. One call is in flight; messages that arrive meanwhile
 * follow as one batch in order. If a message must be sent again, later messages of the same socket are refused too
 * until it has arrived, so that they do not overtake it.
 */
export class SendQueue<Source extends { id: string }> {
  readonly #deliver: DeliverBatch<Source>;
  readonly #limit: SendLimit;
  readonly #lanes = new Map<ConversationId, QueuedMessage<Source>[]>();
  readonly #stalled = new Map<string, { cid: Uuid; until: number; refusal: Refusal }>();

  constructor(deliver: DeliverBatch<Source>, limit: SendLimit) {
    this.#deliver = deliver;
    this.#limit = limit;
  }

  enqueue(conversation: ConversationId, messages: QueuedMessage<Source>[]): void {
    const accepted: QueuedMessage<Source>[] = [];
    for (const message of messages) {
      const refusal = this.#findStall(conversation, message);
      if (refusal) message.settle(refusal);
      else accepted.push(message);
    }
    // Before tokens are taken, so that messages without room in the queue use up none.
    if (this.#countQueued() + accepted.length > queuedMax) {
      this.#refuse(conversation, accepted, { error: "rate_limited", retryAfterMs: 1_000 });
      return;
    }
    const firstOverLimit = accepted.findIndex(({ body }) => !this.#limit.take(countSendTokens(body)));
    const refused = firstOverLimit < 0 ? [] : accepted.splice(firstOverLimit);
    if (refused.length > 0) {
      const retryAfterMs = this.#limit.waitMs(sendRetryMessages);
      this.#refuse(conversation, refused, { error: "rate_limited", retryAfterMs });
    }
    if (accepted.length === 0) return;
    const queue = this.#lanes.get(conversation);
    if (queue) {
      queue.push(...accepted);
    } else {
      this.#lanes.set(conversation, accepted);
      void this.#drain(conversation, accepted);
    }
  }

  #countQueued(): number {
    let count = 0;
    for (const queue of this.#lanes.values()) count += queue.length;
    return count;
  }

  async #drain(conversation: ConversationId, queue: QueuedMessage<Source>[]): Promise<void> {
    await Promise.resolve(); // messages of the same frame join the batch
    while (queue.length > 0) {
      const startedAt = Date.now();
      const batch = queue.splice(0, sendBatchMax);
      const delivered = await this.#deliverSafely(conversation, batch);
      if (!isRefusal(delivered)) {
        const outcomes = new Map<Uuid, SentMessage | Refusal>();
        for (const ack of delivered.sent) outcomes.set(ack.cid, ack);
        for (const { cid, ...refusal } of delivered.refused) outcomes.set(cid, refusal);
        for (const { cid, settle } of batch) {
          const outcome = outcomes.get(cid);
          if (outcome) settle(outcome);
        }
        queue.unshift(...batch.filter(({ cid }) => !outcomes.has(cid)));
      } else if (isPermanentError(delivered.error)) {
        this.#refuse(conversation, batch, delivered);
      } else {
        this.#refuse(conversation, [...batch, ...queue.splice(0)], delivered);
      }
      if (queue.length === 0 && this.#lanes.size > pausedQueuesMax) break;
      // The wait grows with the duration of a call, so that slow conversations get larger batches.
      await scheduler.wait(Math.min(Math.max(groupCommitMs, Date.now() - startedAt), pauseMaxMs));
    }
    this.#lanes.delete(conversation);
  }

  async #deliverSafely(conversation: ConversationId, batch: QueuedMessage<Source>[]): Promise<BatchOutcome | Refusal> {
    try {
      const delivered = await this.#deliver(conversation, batch);
      if (isRefusal(delivered)) return delivered;
      return delivered.sent.length + delivered.refused.length > 0 ? delivered : { error: "internal" };
    } catch (error) {
      logError("calling a conversation failed", error);
      return { error: "unavailable" };
    }
  }

  #refuse(conversation: ConversationId, batch: QueuedMessage<Source>[], refusal: Refusal): void {
    for (const messages of batch) {
      if (messages.source && !isPermanentError(refusal.error))
        this.#stall(conversation, messages.source, messages.cid, refusal);
      messages.settle(refusal);
    }
  }

  #stall(conversation: ConversationId, source: Source, cid: Uuid, refusal: Refusal): void {
    const now = Date.now();
    for (const [key, { until }] of this.#stalled) if (until <= now) this.#stalled.delete(key);
    const key = `${source.id} ${conversation}`;
    // Later messages wait for the first one that failed.
    if (!this.#stalled.has(key)) this.#stalled.set(key, { cid, until: now + sendStallMs, refusal });
  }

  /** Refusal of an earlier message that this one must not overtake. */
  #findStall(conversation: ConversationId, { source, cid }: QueuedMessage<Source>): Refusal | undefined {
    const key = source && `${source.id} ${conversation}`;
    const stall = key === undefined ? undefined : this.#stalled.get(key);
    if (!key || !stall) return undefined;
    const leftMs = stall.until - Date.now(); // longer than the stall itself: the clock was set back
    if (stall.cid !== cid && leftMs > 0 && leftMs <= sendStallMs) return stall.refusal;
    this.#stalled.delete(key);
    return undefined;
  }
}
