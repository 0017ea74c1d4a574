import type { Uuid } from "#contract/ids.ts";
import { isRefusal, type Refusal, type Withdrawn } from "#contract/wire/commands.ts";
import { logError } from "#worker/lib/log.ts";
import { noticeFor } from "#worker/objects/conversation/delivery/build-notice.ts";
import { nothingTold, type Telling } from "#worker/objects/conversation/delivery/notifier.ts";
import type { ConversationLog } from "#worker/objects/conversation/log/conversation-log.ts";
import type { Member } from "#worker/objects/conversation/log/member-table.ts";
import type { Checked, Known, SentNotice } from "#worker/objects/rpc.ts";
import { GroupCommit } from "#worker/objects/shared/group-commit.ts";
import { type Accepted, accept, type Sending } from "./append-messages.ts";
import { retract } from "./deletions.ts";
import { SentBytes } from "./sent-bytes.ts";

/** Takes in what members send to a conversation, all that comes together in one commit, and tells of it. */
export class Accepting {
  readonly #log: ConversationLog;
  readonly #telling: Pick<Telling, "sent" | "told" | "retracted" | "renewed">;
  readonly #sentBytes: SentBytes;
  readonly #commits = new GroupCommit<Sending, Accepted | Refusal>((batch) => this.#commit(batch));

  /** `factor`: how many times as much as in production a member may send. */
  constructor(log: ConversationLog, telling: Pick<Telling, "sent" | "told" | "retracted" | "renewed">, factor: number) {
    this.#log = log;
    this.#sentBytes = new SentBytes(log.sql, factor);
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
    log.transaction(() => log.withdrawals.add(member, cid, now));
    return { revision: log.revision, place: null };
  }

  /** One commit for all that came together; if it fails as a whole, each on its own, so that one spoils none. */
  #commit(batch: Sending[]): (Accepted | Refusal)[] {
    const log = this.#log;
    const now = Date.now();
    const limits = { sentBytes: this.#sentBytes, isFull: log.isFull };
    const acceptOne = (sending: Sending) => accept(log, sending, limits, now);
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
