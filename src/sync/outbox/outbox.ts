import { attachmentOf } from "#contract/conversations.ts";
import type { ErrorCode } from "#contract/errors.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import { outboxWindow, sendBatchMax } from "#contract/limits.ts";
import { inFrames } from "#sync/connection/frame-batches.ts";
import { askByHttp } from "#sync/connection/http-transport.ts";
import type { Line } from "#sync/connection/socket-session.ts";
import type { Applied, Change } from "#sync/inbound/apply-changes.ts";
import { takeIn } from "#sync/inbound/take-in.ts";
import { Retry } from "#sync/platform/retry.ts";
import { asSyncError, isWorthRetry, SyncError } from "#sync/platform/sync-error.ts";
import type { Context } from "#sync/store/context.ts";
import type { OutboxRow } from "#sync/store/database.ts";
import { readCursor } from "#sync/store/sync-cursor.ts";
import { ConversationWaits } from "./conversation-waits.ts";
import { Pacer } from "./pacer.ts";
import { bringAgain, dropWithdrawn, giveUp, noteFate } from "./refused-messages.ts";

const unansweredMs = 10_000;
const giveUpMs = 7 * 24 * 3_600_000;
const giveUpTries = 10; // and not before so many, for the clock may have been set
/** A file that is with the server waits this long for those chosen before it. */
export const batchPatienceMs = 10 * 60_000;

export type OutboxOptions = {
  line: Pick<Line, "isUp" | "sendMessage" | "sendSpread" | "probe">;
  /** Whether messages go by HTTP now. */
  usesHttp(): boolean;
  /** Whether nothing goes for a moment. */
  isHeld(): boolean;
  applied(applied: Applied): void;
  /** A message waits for its file, or waits no more. */
  awaiting(): void;
};

/**
 * Brings what was written here to the server: per conversation in the order it was written, a few at a time,
 * again and again under the same client id until the server has it or refuses it for good.
 */
export class Outbox {
  readonly #context: Context;
  readonly #options: OutboxOptions;
  readonly #pump: Retry;
  readonly #poster: Retry;
  readonly #pacer: Pacer;
  /**
   * On the socket and not answered yet, with what ends the wait. What is on its way by HTTP is not among them: a
   * socket that opens meanwhile sends it too, and so the next message cannot overtake it.
   */
  #underWay = new Map<Uuid, { conversation: ConversationId; cancel: () => void }>();
  readonly #waits: ConversationWaits;
  /** Conversations whose messages go one by one, to find the one that the server refuses. */
  #single = new Set<ConversationId>();
  #isPosting = false;
  #cancelPatience = () => {};

  constructor(context: Context, options: OutboxOptions) {
    this.#context = context;
    this.#options = options;
    this.#pacer = new Pacer(context.platform, () => this.want());
    this.#waits = new ConversationWaits(context.platform, () => this.want());
    this.#pump = new Retry(context.platform, () => this.#sendDue());
    this.#poster = new Retry(context.platform, () => this.#postDue());
  }

  /** Whether an answer to a message is waited for. */
  get isBusy(): boolean {
    return this.#isPosting || this.#underWay.size > 0;
  }

  /** Something was written, or room was made. */
  want(): void {
    this.#pump.want();
    this.#poster.want();
  }

  /** The link is there: what waited for its turn is tried now. */
  hurry(): void {
    this.#waits.clear();
    this.#pump.hurry();
    this.#poster.hurry();
  }

  /** The socket is gone, and with it the answers to what went over it. */
  lost(): void {
    for (const cid of [...this.#underWay.keys()]) this.#end(cid);
    this.want();
  }

  /** Stored in the log, by whatever way this was learned. */
  settled(cids: readonly Uuid[]): void {
    for (const cid of cids) {
      const conversation = this.#underWay.get(cid)?.conversation;
      if (conversation !== undefined) this.#waits.succeeded(conversation);
      this.#end(cid);
    }
    if (cids.length > 0) this.want();
  }

  async refused(cid: Uuid, error: SyncError): Promise<void> {
    this.#end(cid);
    const { strict } = this.#context;
    const row = await strict.outbox.get(cid);
    if (!row) return;
    if (this.#isLimited(error, row.conversation)) this.want();
    else if (isWorthRetry(error)) {
      await this.#putOff([row], error.retryAfterMs);
    } else if (error.code === "message_withdrawn") {
      await dropWithdrawn(this.#context, row);
      this.#options.awaiting(); // its file is brought no further
      this.want();
    } else {
      const { gone } = (await strict.conversations.get(row.conversation)) ?? { gone: false };
      const isLost = error.code === "file_not_found" && !row.source && !gone;
      const file = isLost ? attachmentOf(row.body)?.file : undefined;
      const isSentAgain = file !== undefined && (await bringAgain(this.#context, file));
      if (isSentAgain) this.#options.awaiting();
      const isDone = isSentAgain || (await giveUp(this.#context, cid, error.code as ErrorCode));
      if (!isDone) this.#block(row.conversation);
      this.want();
    }
  }

  /** Too fast, or too much in one conversation: all messages, or those of it, wait as long as the server said. */
  #isLimited({ code, retryAfterMs }: SyncError, conversation: ConversationId): boolean {
    if (code === "conversation_limited") this.#waits.limit(conversation, retryAfterMs);
    else if (code === "rate_limited" && retryAfterMs !== undefined) this.#pacer.limited(retryAfterMs);
    else return false;
    return true;
  }

  /** The server could not take them now. One that it still cannot take after so long is not tried again by itself. */
  async #putOff(rows: readonly OutboxRow[], retryAfterMs: number | undefined): Promise<void> {
    const { strict, platform } = this.#context;
    const { skew } = await readCursor(strict);
    const deadline = platform.now() + skew - giveUpMs;
    for (const { cid, createdAt, attempts } of rows) {
      if (attempts >= giveUpTries && createdAt < deadline) await giveUp(this.#context, cid, "unavailable");
      else await noteFate(this.#context, cid, { attempts: attempts + 1 });
    }
    for (const conversation of new Set(rows.map((row) => row.conversation))) this.#block(conversation, retryAfterMs);
  }

  stop(): void {
    this.#cancelPatience();
    this.#pacer.stop();
    this.#pump.stop();
    this.#poster.stop();
    for (const cid of [...this.#underWay.keys()]) this.#end(cid);
    this.#waits.stop();
  }

  #end(cid: Uuid): void {
    this.#underWay.get(cid)?.cancel();
    this.#underWay.delete(cid);
  }

  #block(conversation: ConversationId, retryAfterMs?: number): void {
    if (!this.#pacer.isWaiting) this.#waits.start(conversation, retryAfterMs);
  }

  /** What may go now, oldest first: no message before an earlier one of its conversation, and a spread in one piece. */
  async #due(): Promise<OutboxRow[]> {
    const due: OutboxRow[] = [];
    const isPaced = this.#pacer.isOn;
    const window = isPaced ? 1 : outboxWindow;
    if (this.#pacer.isWaiting || this.#underWay.size >= window) return due;
    const { platform } = this.#context;
    /** Conversations that have a message under way; of a limited one no second may go. */
    const single = new Set([...this.#underWay.values()].map(({ conversation }) => conversation));
    const now = platform.now();
    /** Batches of which an earlier file is still on its way. */
    const unready = new Set<string>();
    let patienceMs = Number.POSITIVE_INFINITY;
    const followsUnready = ({ batch, conversation, state, paused, readyAt = now }: OutboxRow): boolean => {
      if (batch === undefined) return false;
      const key = `${batch} ${conversation}`;
      if (state === "awaiting" && !paused) unready.add(key);
      const leftMs = Math.min(readyAt + batchPatienceMs - now, batchPatienceMs); // the clock may have been set back
      if (state !== "queued" || leftMs <= 0 || !unready.has(key)) return false;
      patienceMs = Math.min(patienceMs, leftMs);
      return true;
    };
    await this.#context.store.outbox
      .orderBy("order")
      .until(({ spread }) => {
        const isFull = !isPaced && due.length + this.#underWay.size >= window;
        return isFull && (spread === undefined || spread !== due.at(-1)?.spread);
      })
      .each((row) => {
        if (
          followsUnready(row) ||
          row.state !== "queued" ||
          this.#underWay.has(row.cid) ||
          this.#waits.has(row.conversation) ||
          ((isPaced || this.#waits.isLimited(row.conversation)) && single.has(row.conversation))
        )
          return;
        single.add(row.conversation);
        due.push(row);
      });
    const conversations = await this.#context.store.conversations.bulkGet([
      ...new Set(due.map((row) => row.conversation)),
    ]);
    // Before them goes what a restored server lost.
    const forked = new Set(conversations.flatMap((row) => (row?.forked ? row.id : [])));
    this.#cancelPatience();
    if (patienceMs < Number.POSITIVE_INFINITY) this.#cancelPatience = platform.after(patienceMs, () => this.want());
    const free = due.filter(({ conversation }) => !forked.has(conversation));
    return isPaced ? this.#pacer.pick(free) : free;
  }

  async #sendDue(): Promise<"done" | "again" | "retry"> {
    const { line, isHeld } = this.#options;
    const due = line.isUp && !isHeld() ? await this.#due() : [];
    if (due.length === 0) return "done";
    for (const frame of inFrames(due)) {
      const [row] = frame;
      const conversation = await this.#context.store.conversations.get(row.conversation);
      if (frame.some(({ cid }) => this.#underWay.has(cid))) continue;
      const of = conversation?.handle ?? row.conversation;
      if (!(frame.length > 1 ? line.sendSpread(frame) : line.sendMessage(of, row))) return "done";
      for (const message of frame) this.#await(message);
    }
    return "again";
  }

  #await({ cid, conversation }: OutboxRow): void {
    const cancel = this.#context.platform.after(unansweredMs, () => this.#unanswered(cid));
    this.#underWay.set(cid, { conversation, cancel });
  }

  /** An open socket proves nothing. Sent again under the same id it is stored once all the same. */
  #unanswered(cid: Uuid): void {
    this.#end(cid);
    this.#options.line.probe();
    this.want();
  }

  async #postDue(): Promise<"done" | "again" | "retry"> {
    const { line, usesHttp } = this.#options;
    const due = !line.isUp && usesHttp() ? await this.#due() : [];
    const [first] = due;
    if (!first || line.isUp) return "done";
    const { conversation, spread } = first;
    // What was written after a spread to this conversation waits for it.
    const end = due.findIndex(
      (row) => row.spread !== spread && row.spread !== undefined && row.conversation === conversation,
    );
    const rows = due
      .slice(0, end < 0 ? undefined : end)
      .filter((row) => (spread === undefined ? row.conversation === conversation : row.spread === spread))
      .slice(0, this.#single.has(conversation) || this.#pacer.isOn ? 1 : sendBatchMax);
    this.#isPosting = true;
    try {
      await (rows.length > 1 && spread !== undefined ? this.#postSpread(rows) : this.#post(conversation, rows));
      this.#single.delete(conversation);
      return "again";
    } catch (error) {
      const failure = asSyncError(error);
      if (failure.code === "offline") return "retry";
      if (this.#isLimited(failure, conversation)) return "again";
      if (isWorthRetry(failure)) await this.#putOff(rows, failure.retryAfterMs);
      else if (rows.length > 1) this.#single.add(conversation);
      else await this.refused(first.cid, failure);
      return "again";
    } finally {
      this.#isPosting = false;
    }
  }

  async #post(conversation: ConversationId, rows: readonly OutboxRow[]): Promise<void> {
    const messages = rows.map(({ cid, body, source }) => ({ cid, body, ...(source ? { source } : {}) }));
    const { epoch, sent } = await askByHttp(this.#context.platform, { type: "send", conversation, messages });
    await this.#posted(sent.map((place) => ({ type: "sent", conversation, epoch, ...place })));
  }

  async #postSpread(rows: readonly OutboxRow[]): Promise<void> {
    const { platform } = this.#context;
    const body = rows[0]?.body as OutboxRow["body"];
    const source = rows[0]?.source;
    const to = rows.map(({ conversation, cid }) => ({ conversation, cid }));
    const { sent, refused } = await askByHttp(platform, { type: "spread", body, to, ...(source ? { source } : {}) });
    await this.#posted(sent.map((place) => ({ type: "sent", ...place })));
    for (const { cid, error, retryAfterMs } of refused) await this.refused(cid, new SyncError(error, retryAfterMs));
    const answered = new Set([...sent, ...refused].map(({ cid }) => cid));
    for (const { cid, conversation } of rows) if (!answered.has(cid)) this.#block(conversation);
  }

  async #posted(changes: Change[]): Promise<void> {
    this.#options.applied(await takeIn(this.#context, changes));
  }
}
