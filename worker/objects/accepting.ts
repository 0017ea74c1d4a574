import { isRefusal, type Refusal, type Withdrawn } from "../../contract/commands";
import type { Uuid } from "../../contract/ids";
import { sendBurst, sendPerSecond } from "../../contract/limits";
import { logError } from "../lib/log";
import { type Accepted, accept, type Sending } from "./accept";
import type { ConversationLog } from "./conversation-log";
import { GroupCommit } from "./group-commit";
import type { Member } from "./members";
import { noticeFor } from "./notices";
import { retract } from "./revisions";
import type { Checked, Known, SentNotice } from "./rpc";
import { nothingTold, type Telling } from "./telling";
import { TokenBucket } from "./token-bucket";

/** Each member's flood protection, as long as the object lives. */
class SendLimits {
  readonly #buckets = new Map<number, TokenBucket>();

  of(member: Member): TokenBucket {
    const bucket = this.#buckets.get(member.number) ?? new TokenBucket(sendBurst, sendPerSecond);
    this.#buckets.set(member.number, bucket);
    return bucket;
  }
}

/** Takes in what members send to a conversation, all that comes together in one commit, and tells of it. */
export class Accepting {
  readonly #log: ConversationLog;
  readonly #telling: Pick<Telling, "sent" | "told" | "retracted" | "renewed">;
  readonly #limits = new SendLimits();
  readonly #commits = new GroupCommit<Sending, Accepted | Refusal>((batch) => this.#commit(batch));

  constructor(log: ConversationLog, telling: Pick<Telling, "sent" | "told" | "retracted" | "renewed">) {
    this.#log = log;
    this.#telling = telling;
  }

  /** The answer brings the sender's channel from what it has up to where the conversation then stands. */
  async send(member: Member, messages: readonly Checked[], known: Known): Promise<SentNotice | Refusal> {
    const log = this.#log;
    if (known.epoch === log.epoch && known.head > log.head) this.#renewEpoch();
    const has = known.epoch === log.epoch ? known : nothingTold;
    this.#telling.told(member, has);
    const accepted = await this.#commits.add({ member, messages });
    if (isRefusal(accepted)) return accepted;
    const { isNew: _, isAgain, ...outcome } = accepted;
    return { epoch: log.epoch, ...outcome, notice: noticeFor(log, member, has, isAgain) };
  }

  /** A channel was told of places that this log does not have: it is an earlier copy, restored. All are told anew. */
  #renewEpoch(): void {
    const log = this.#log;
    log.transaction(() => log.renewEpoch());
    this.#telling.renewed(log);
  }

  /** Deletes what a member sent, wherever it stands. Of what has not come it is kept that it is not to be taken in. */
  withdraw(member: Member, cid: Uuid): Withdrawn | Refusal {
    const log = this.#log;
    const now = Date.now();
    const place = log.messages.findSent(member.number, cid);
    if (place) {
      // What they wrote before they came back is not theirs to delete any more, however it is named.
      const row = place.seq > member.joined ? log.messages.find(place.seq) : undefined;
      const done = log.transaction(() => retract(log, member, row));
      if (isRefusal(done)) return done;
      this.#telling.retracted(log, member, done);
      return { revision: done.revision, place };
    }
    const bucket = this.#limits.of(member);
    if (!bucket.take(now)) return { error: "rate_limited", retryAfterMs: bucket.waitMs(now) };
    log.transaction(() => log.withdrawals.add(member, cid, now));
    return { revision: log.revision, place: null };
  }

  /** One commit for all that came together; if it fails as a whole, each on its own, so that one spoils none. */
  #commit(batch: Sending[]): (Accepted | Refusal)[] {
    const log = this.#log;
    const now = Date.now();
    const acceptOne = (sending: Sending) => accept(log, sending, this.#limits.of(sending.member), now);
    let results: (Accepted | Refusal)[];
    try {
      results = log.transaction(() => batch.map(acceptOne));
    } catch (error) {
      logError("a commit failed", error);
      if (batch.length === 1) return [{ error: "unavailable" }];
      return batch.flatMap((sending) => this.#commit([sending]));
    }
    const authors = new Set<number>();
    for (const [index, result] of results.entries()) {
      const author = batch[index]?.member.number;
      if (author !== undefined && !isRefusal(result) && result.isNew) authors.add(author);
    }
    if (authors.size > 0) this.#telling.sent(log, authors);
    return results;
  }
}
