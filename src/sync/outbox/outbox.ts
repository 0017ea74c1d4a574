import { findAttachment } from "#contract/conversations.ts";
import type { ErrorCode } from "#contract/errors.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import { outboxWindow, sendBatchMax } from "#contract/limits.ts";
import { groupIntoFrames } from "#sync/connection/frame-writer.ts";
import { requestByHttp } from "#sync/connection/http-transport.ts";
import type { SocketSession } from "#sync/connection/socket-session.ts";
import { type ApplyResult, applyServerChanges } from "#sync/inbound/apply-server-changes.ts";
import type { ServerChange } from "#sync/inbound/server-changes.ts";
import { Retry } from "#sync/platform/retry.ts";
import { asSyncError, isRetryableFailure, SyncError } from "#sync/platform/sync-error.ts";
import type { OutboxRow } from "#sync/store/database.ts";
import type { SyncContext } from "#sync/store/sync-context.ts";
import { readSyncCursor } from "#sync/store/sync-cursor.ts";
import { ConversationBackoff } from "./conversation-backoff.ts";
import { Pacer } from "./pacer.ts";
import { markFailed, removeCancelledMessage, requeueExpiredFile, updateOutboxRow } from "./refused-messages.ts";

const responseTimeoutMs = 10_000;
const sendGiveUpMs = 7 * 24 * 3_600_000;
const giveUpAttempts = 10; // and not before so many, for the clock may have been set
/** A file that is with the server waits this long for those chosen before it. */
export const batchWaitMs = 10 * 60_000;

export type OutboxOptions = {
  session: Pick<SocketSession, "isReady" | "sendMessage" | "sendMulticast" | "probe">;
  /** Whether messages go by HTTP now. */
  usesHttp(): boolean;
  /** Whether nothing goes for a moment. */
  isPaused(): boolean;
  changesApplied(applied: ApplyResult): void;
  /** A message waits for its file, or waits no more. */
  uploadsChanged(): void;
};

/**
 * Brings what was written here to the server: per conversation in the order it was written, a few at a time,
 * again and again under the same client id until the server has it or refuses it for good.
 */
export class Outbox {
  readonly #context: SyncContext;
  readonly #options: OutboxOptions;
  readonly #frameSender: Retry;
  readonly #httpSender: Retry;
  readonly #pacer: Pacer;
  /**
   * On the socket and not answered yet, with what ends the wait. What is on its way by HTTP is not among them: a
   * socket that opens meanwhile sends it too, and so the next message cannot overtake it.
   */
  #inFlight = new Map<Uuid, { conversation: ConversationId; cancel: () => void }>();
  readonly #backoff: ConversationBackoff;
  /** Conversations whose messages go one by one, to find the one that the server refuses. */
  #oneByOne = new Set<ConversationId>();
  #isSendingByHttp = false;
  #cancelBatchWait = () => {};

  constructor(context: SyncContext, options: OutboxOptions) {
    this.#context = context;
    this.#options = options;
    this.#pacer = new Pacer(context.platform, () => this.schedule());
    this.#backoff = new ConversationBackoff(context.platform, () => this.schedule());
    this.#frameSender = new Retry(context.platform, () => this.#sendByFrames());
    this.#httpSender = new Retry(context.platform, () => this.#sendByHttp());
  }

  /** Whether an answer to a message is waited for. */
  get isBusy(): boolean {
    return this.#isSendingByHttp || this.#inFlight.size > 0;
  }

  /** Something was written, or room was made. */
  schedule(): void {
    this.#frameSender.schedule();
    this.#httpSender.schedule();
  }

  /** The link is there: what waited for its turn is tried now. */
  runNow(): void {
    this.#backoff.retryNow();
    this.#frameSender.runNow();
    this.#httpSender.runNow();
  }

  /** The socket is gone, and with it the answers to what went over it. */
  handleSocketClosed(): void {
    for (const cid of [...this.#inFlight.keys()]) this.#clearInFlight(cid);
    this.schedule();
  }

  /** Stored in the log, by whatever way this was learned. */
  handleStored(cids: readonly Uuid[]): void {
    for (const cid of cids) {
      const conversation = this.#inFlight.get(cid)?.conversation;
      if (conversation !== undefined) this.#backoff.reset(conversation);
      this.#clearInFlight(cid);
    }
    if (cids.length > 0) this.schedule();
  }

  async handleRefusal(cid: Uuid, error: SyncError): Promise<void> {
    this.#clearInFlight(cid);
    const { strict } = this.#context;
    const row = await strict.outbox.get(cid);
    if (!row) return;
    if (this.#applyRateLimit(error, row.conversation)) this.schedule();
    else if (isRetryableFailure(error)) {
      await this.#postpone([row], error.retryAfterMs);
    } else if (error.code === "message_withdrawn") {
      await removeCancelledMessage(this.#context, row);
      this.#options.uploadsChanged(); // its file is brought no further
      this.schedule();
    } else {
      const { gone } = (await strict.conversations.get(row.conversation)) ?? { gone: false };
      const isLost = error.code === "file_not_found" && !row.source && !gone;
      const file = isLost ? findAttachment(row.body)?.file : undefined;
      const isSentAgain = file !== undefined && (await requeueExpiredFile(this.#context, file));
      if (isSentAgain) this.#options.uploadsChanged();
      const isDone = isSentAgain || (await markFailed(this.#context, cid, error.code as ErrorCode));
      if (!isDone) this.#delayConversation(row.conversation);
      this.schedule();
    }
  }

  /** Too fast, or too much in one conversation: all messages, or those of it, wait as long as the server said. */
  #applyRateLimit({ code, retryAfterMs }: SyncError, conversation: ConversationId): boolean {
    if (code === "conversation_limited") this.#backoff.limit(conversation, retryAfterMs);
    else if (code === "rate_limited" && retryAfterMs !== undefined) this.#pacer.limit(retryAfterMs);
    else return false;
    return true;
  }

  /** The server could not take them now. One that it still cannot take after so long is not tried again by itself. */
  async #postpone(rows: readonly OutboxRow[], retryAfterMs: number | undefined): Promise<void> {
    const { strict, platform } = this.#context;
    const { skew } = await readSyncCursor(strict);
    const deadline = platform.now() + skew - sendGiveUpMs;
    for (const { cid, createdAt, attempts } of rows) {
      if (attempts >= giveUpAttempts && createdAt < deadline) await markFailed(this.#context, cid, "unavailable");
      else await updateOutboxRow(this.#context, cid, { attempts: attempts + 1 });
    }
    for (const conversation of new Set(rows.map((row) => row.conversation)))
      this.#delayConversation(conversation, retryAfterMs);
  }

  stop(): void {
    this.#cancelBatchWait();
    this.#pacer.stop();
    this.#frameSender.stop();
    this.#httpSender.stop();
    for (const cid of [...this.#inFlight.keys()]) this.#clearInFlight(cid);
    this.#backoff.stop();
  }

  #clearInFlight(cid: Uuid): void {
    this.#inFlight.get(cid)?.cancel();
    this.#inFlight.delete(cid);
  }

  #delayConversation(conversation: ConversationId, retryAfterMs?: number): void {
    if (!this.#pacer.isWaiting) this.#backoff.delay(conversation, retryAfterMs);
  }

  /** What may go now, oldest first: no message before an earlier one of its conversation, and a spread in one piece. */
  async #listDue(): Promise<OutboxRow[]> {
    const due: OutboxRow[] = [];
    const isPaced = this.#pacer.isActive;
    const window = isPaced ? 1 : outboxWindow;
    if (this.#pacer.isWaiting || this.#inFlight.size >= window) return due;
    const { platform } = this.#context;
    /** Conversations that have a message under way; of a limited one no second may go. */
    const single = new Set([...this.#inFlight.values()].map(({ conversation }) => conversation));
    const now = platform.now();
    /** Batches of which an earlier file is still on its way. */
    const unready = new Set<string>();
    let patienceMs = Number.POSITIVE_INFINITY;
    const followsUnready = ({ batch, conversation, state, paused, readyAt = now }: OutboxRow): boolean => {
      if (batch === undefined) return false;
      const key = `${batch} ${conversation}`;
      if (state === "awaiting" && !paused) unready.add(key);
      const leftMs = Math.min(readyAt + batchWaitMs - now, batchWaitMs); // the clock may have been set back
      if (state !== "queued" || leftMs <= 0 || !unready.has(key)) return false;
      patienceMs = Math.min(patienceMs, leftMs);
      return true;
    };
    await this.#context.store.outbox
      .orderBy("order")
      .until(({ spread }) => {
        const isFull = !isPaced && due.length + this.#inFlight.size >= window;
        return isFull && (spread === undefined || spread !== due.at(-1)?.spread);
      })
      .each((row) => {
        if (
          followsUnready(row) ||
          row.state !== "queued" ||
          this.#inFlight.has(row.cid) ||
          this.#backoff.isWaiting(row.conversation) ||
          ((isPaced || this.#backoff.isLimited(row.conversation)) && single.has(row.conversation))
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
    this.#cancelBatchWait();
    if (patienceMs < Number.POSITIVE_INFINITY)
      this.#cancelBatchWait = platform.startTimer(patienceMs, () => this.schedule());
    const free = due.filter(({ conversation }) => !forked.has(conversation));
    return isPaced ? this.#pacer.pickNext(free) : free;
  }

  async #sendByFrames(): Promise<"done" | "again" | "retry"> {
    const { session, isPaused } = this.#options;
    const due = session.isReady && !isPaused() ? await this.#listDue() : [];
    if (due.length === 0) return "done";
    for (const frame of groupIntoFrames(due)) {
      const [row] = frame;
      const conversation = await this.#context.store.conversations.get(row.conversation);
      if (frame.some(({ cid }) => this.#inFlight.has(cid))) continue;
      const of = conversation?.handle ?? row.conversation;
      if (!(frame.length > 1 ? session.sendMulticast(frame) : session.sendMessage(of, row))) return "done";
      for (const message of frame) this.#trackInFlight(message);
    }
    return "again";
  }

  #trackInFlight({ cid, conversation }: OutboxRow): void {
    const cancel = this.#context.platform.startTimer(responseTimeoutMs, () => this.#handleTimeout(cid));
    this.#inFlight.set(cid, { conversation, cancel });
  }

  /** An open socket proves nothing. Sent again under the same id it is stored once all the same. */
  #handleTimeout(cid: Uuid): void {
    this.#clearInFlight(cid);
    this.#options.session.probe();
    this.schedule();
  }

  async #sendByHttp(): Promise<"done" | "again" | "retry"> {
    const { session, usesHttp } = this.#options;
    const due = !session.isReady && usesHttp() ? await this.#listDue() : [];
    const [first] = due;
    if (!first || session.isReady) return "done";
    const { conversation, spread } = first;
    // What was written after a spread to this conversation waits for it.
    const end = due.findIndex(
      (row) => row.spread !== spread && row.spread !== undefined && row.conversation === conversation,
    );
    const rows = due
      .slice(0, end < 0 ? undefined : end)
      .filter((row) => (spread === undefined ? row.conversation === conversation : row.spread === spread))
      .slice(0, this.#oneByOne.has(conversation) || this.#pacer.isActive ? 1 : sendBatchMax);
    this.#isSendingByHttp = true;
    try {
      await (rows.length > 1 && spread !== undefined
        ? this.#postMulticast(rows)
        : this.#postMessages(conversation, rows));
      this.#oneByOne.delete(conversation);
      return "again";
    } catch (error) {
      const failure = asSyncError(error);
      if (failure.code === "offline") return "retry";
      if (this.#applyRateLimit(failure, conversation)) return "again";
      if (isRetryableFailure(failure)) await this.#postpone(rows, failure.retryAfterMs);
      else if (rows.length > 1) this.#oneByOne.add(conversation);
      else await this.handleRefusal(first.cid, failure);
      return "again";
    } finally {
      this.#isSendingByHttp = false;
    }
  }

  async #postMessages(conversation: ConversationId, rows: readonly OutboxRow[]): Promise<void> {
    const messages = rows.map(({ cid, body, source }) => ({ cid, body, ...(source ? { source } : {}) }));
    const { epoch, sent } = await requestByHttp(this.#context.platform, { type: "send", conversation, messages });
    await this.#applySent(sent.map((place) => ({ type: "sent", conversation, epoch, ...place })));
  }

  async #postMulticast(rows: readonly OutboxRow[]): Promise<void> {
    const { platform } = this.#context;
    const body = rows[0]?.body as OutboxRow["body"];
    const source = rows[0]?.source;
    const to = rows.map(({ conversation, cid }) => ({ conversation, cid }));
    const { sent, refused } = await requestByHttp(platform, {
      type: "spread",
      body,
      to,
      ...(source ? { source } : {}),
    });
    await this.#applySent(sent.map((place) => ({ type: "sent", ...place })));
    for (const { cid, error, retryAfterMs } of refused)
      await this.handleRefusal(cid, new SyncError(error, retryAfterMs));
    const answered = new Set([...sent, ...refused].map(({ cid }) => cid));
    for (const { cid, conversation } of rows) if (!answered.has(cid)) this.#delayConversation(conversation);
  }

  async #applySent(changes: ServerChange[]): Promise<void> {
    this.#options.changesApplied(await applyServerChanges(this.#context, changes));
  }
}
