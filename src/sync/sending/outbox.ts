import { hasEnded } from "#contract/conversations.ts";
import type { ErrorCode } from "#contract/errors.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import { outboxWindow, sendBatchMax } from "#contract/limits/messages.ts";
import { findAttachment } from "#contract/messages/body.ts";
import { groupIntoFrames } from "#sync/connection/frame-writer.ts";
import type { SocketSession } from "#sync/connection/socket-session.ts";
import { type ApplyResult, applyServerChanges } from "#sync/inbound/apply/apply-server-changes.ts";
import type { ServerChange } from "#sync/inbound/server-changes.ts";
import { KeyedBackoff } from "#sync/platform/keyed-backoff.ts";
import { Retry } from "#sync/platform/retry.ts";
import { asSyncError, isRetryableFailure, SyncError } from "#sync/platform/sync-error.ts";
import { readGiveUpTime, sendGiveUpAttempts } from "#sync/store/retry-policy.ts";
import type { SyncContext } from "#sync/store/sync-context.ts";
import { listOutbox } from "#sync/unsent/messages.ts";
import type { OutboxRow } from "#sync/unsent/outbox-row.ts";
import { postMessages, postMulticast } from "./http-messages.ts";
import { MentionResolver } from "./mentions/mention-resolver.ts";
import { Pacer } from "./pacer.ts";
import { discardCancelledMessage, markFailed, requeueExpiredFile, updateMessage } from "./refused-messages.ts";
import { selectSendable } from "./sendable-messages.ts";

const responseTimeoutMs = 10_000;
/** Time that an uploaded file waits for files of the same batch that were chosen before it. */
export const batchWaitMs = 10 * 60_000;

export type OutboxOptions = {
  session: Pick<SocketSession, "isReady" | "sendMessage" | "sendMulticast" | "probe">;
  /** Whether messages are sent by HTTP, because no socket opens. */
  usesHttp(): boolean;
  /** Whether the server has told by HTTP what changed since. Otherwise asks it, and `runNow` follows its answer. */
  confirmState(): boolean;
  onApplied(result: ApplyResult): void;
  /** Called when a message was returned to its upload, or when an upload was cancelled. */
  onUploadsChanged(): void;
};

/**
 * Sends unsent messages to the server, over the socket or by HTTP. Each conversation keeps the order in which its
 * messages were written, and a limited number is in flight. A message is repeated under the same client id until the
 * server stores it or refuses it for good.
 */
export class Outbox {
  readonly #context: SyncContext;
  readonly #options: OutboxOptions;
  readonly #frameSender: Retry;
  readonly #httpSender: Retry;
  readonly #pacer: Pacer;
  readonly #mentions: MentionResolver;
  /**
   * Messages sent over the socket and not answered yet, with the function that cancels their timeout. Messages being
   * sent by HTTP are not included: a socket that opens meanwhile sends them too, and the server recognizes their client
   * ids. Otherwise the socket could send a newer message first.
   */
  #inFlight = new Map<Uuid, { conversation: ConversationId; cancel: () => void }>();
  /** Back-off of each conversation after temporary refusals. A rate-limited one sends its messages one by one. */
  readonly #backoff: KeyedBackoff<ConversationId>;
  /** Conversations whose messages are sent one by one by HTTP, to find the one that the server refuses. */
  #oneByOne = new Set<ConversationId>();
  #isSendingByHttp = false;
  #cancelBatchWait = () => {};

  constructor(context: SyncContext, options: OutboxOptions) {
    this.#context = context;
    this.#options = options;
    this.#pacer = new Pacer(context.platform, () => this.schedule());
    this.#backoff = new KeyedBackoff<ConversationId>(context.platform, () => this.schedule());
    this.#mentions = new MentionResolver(context, () => this.schedule());
    this.#frameSender = new Retry(context.platform, () => this.#sendByFrames());
    this.#httpSender = new Retry(context.platform, () => this.#sendByHttp());
  }

  /** Whether a message is sent and not answered yet. */
  get isBusy(): boolean {
    return this.#isSendingByHttp || this.#inFlight.size > 0;
  }

  /** Sends soon, because a message was added or the window has room again. */
  schedule(): void {
    this.#frameSender.schedule();
    this.#httpSender.schedule();
  }

  /** Sends at once, without waiting for back-off, because the server became reachable. */
  runNow(): void {
    this.#backoff.retryNow();
    this.#mentions.retryNow();
    this.#frameSender.runNow();
    this.#httpSender.runNow();
  }

  /** Queues the messages in flight again, because their answers are lost with the socket. */
  handleSocketClosed(): void {
    for (const cid of [...this.#inFlight.keys()]) this.#clearInFlight(cid);
    this.schedule();
  }

  /** Ends the wait for messages that the server stored, as its answer or its push says. */
  handleStored(cids: readonly Uuid[]): void {
    for (const cid of cids) {
      const conversation = this.#inFlight.get(cid)?.conversation;
      if (conversation !== undefined) this.#backoff.reset(conversation);
      this.#clearInFlight(cid);
    }
    if (cids.length > 0) this.schedule();
  }

  /** Handles the server's refusal of a message: waits, uploads its file again, discards it or marks it as failed. */
  async handleRefusal(cid: Uuid, error: SyncError): Promise<void> {
    const row = this.#context.unsent.find("outbox", cid);
    try {
      if (row) await this.#handleRefusedRow(row, error);
    } finally {
      this.#clearInFlight(cid); // not before, because it would be sent again
      this.schedule();
    }
  }

  async #handleRefusedRow(row: OutboxRow, error: SyncError): Promise<void> {
    const { cid } = row;
    if (this.#applyRateLimit(error, row.conversation)) return;
    if (isRetryableFailure(error)) await this.#postpone([row], error.retryAfterMs);
    else if (error.code === "message_withdrawn") {
      await discardCancelledMessage(this.#context, row);
      this.#options.onUploadsChanged(); // its upload is cancelled
    } else {
      const conversation = await this.#context.store.conversations.get(row.conversation);
      const isClosed = conversation !== undefined && hasEnded(conversation);
      const isFileExpired = error.code === "file_not_found" && !row.source && !isClosed;
      const file = isFileExpired ? findAttachment(row.body)?.file : undefined;
      const isUploadedAgain = file !== undefined && (await requeueExpiredFile(this.#context, file));
      if (isUploadedAgain) this.#options.onUploadsChanged();
      else markFailed(this.#context, cid, error.code as ErrorCode);
    }
  }

  /** Applies a rate limit of the server to all messages or to one conversation. Returns false for other errors. */
  #applyRateLimit({ code, retryAfterMs }: SyncError, conversation: ConversationId): boolean {
    if (code === "conversation_limited") this.#backoff.limit(conversation, retryAfterMs);
    else if (code === "rate_limited" && retryAfterMs !== undefined) this.#pacer.limit(retryAfterMs);
    else return false;
    return true;
  }

  /** Schedules a retry after a temporary refusal. Messages that are too old are marked as failed instead. */
  async #postpone(rows: readonly OutboxRow[], retryAfterMs: number | undefined): Promise<void> {
    const giveUpTime = await readGiveUpTime(this.#context);
    for (const { cid, createdAt, attempts } of rows) {
      if (attempts >= sendGiveUpAttempts && createdAt < giveUpTime) markFailed(this.#context, cid, "unavailable");
      else updateMessage(this.#context, cid, { attempts: attempts + 1 });
    }
    for (const conversation of new Set(rows.map((row) => row.conversation)))
      this.#delayConversation(conversation, retryAfterMs);
  }

  stop(): void {
    this.#cancelBatchWait();
    this.#pacer.stop();
    this.#mentions.stop();
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

  /**
   * Messages that may be sent now, oldest first. A message never precedes an earlier one of its conversation, and the
   * messages of a multicast are listed together.
   */
  async #listDue(): Promise<OutboxRow[]> {
    const due: OutboxRow[] = [];
    const isPaced = this.#pacer.isActive;
    const window = isPaced ? 1 : outboxWindow;
    if (this.#pacer.isWaiting || this.#inFlight.size >= window) return due;
    const { platform, unsent } = this.#context;
    // What a crash takes from this device must not be at the server: the person would write it once more.
    const listed = new Set(listOutbox(unsent).map(({ cid }) => cid));
    await unsent.settle();
    /** Conversations with a message in flight or due. A rate-limited conversation sends one message at a time. */
    const active = new Set([...this.#inFlight.values()].map(({ conversation }) => conversation));
    const now = platform.now();
    /** Batches of which an earlier file is still being uploaded. */
    const uploadingBatches = new Set<string>();
    let batchDelayMs = Number.POSITIVE_INFINITY;
    const waitsForBatch = ({ batch, conversation, state, paused, readyAt = now }: OutboxRow): boolean => {
      if (batch === undefined) return false;
      const key = `${batch} ${conversation}`;
      if (state === "awaiting" && !paused) uploadingBatches.add(key);
      const leftMs = Math.min(readyAt + batchWaitMs - now, batchWaitMs); // the clock may have been set back
      if (state !== "queued" || leftMs <= 0 || !uploadingBatches.has(key)) return false;
      batchDelayMs = Math.min(batchDelayMs, leftMs);
      return true;
    };
    for (const row of listOutbox(unsent).filter(({ cid }) => listed.has(cid))) {
      const { multicastId } = row;
      const isFull = !isPaced && due.length + this.#inFlight.size >= window;
      if (isFull && (multicastId === undefined || multicastId !== due.at(-1)?.multicastId)) break;
      if (
        waitsForBatch(row) ||
        row.state !== "queued" ||
        row.sent ||
        this.#inFlight.has(row.cid) ||
        this.#backoff.isWaiting(row.conversation) ||
        ((isPaced || this.#backoff.isLimited(row.conversation)) && active.has(row.conversation))
      )
        continue;
      active.add(row.conversation);
      due.push(row);
    }
    const ids = [...new Set(due.map((row) => row.conversation))];
    const conversations = ids.length > 0 ? await this.#context.store.conversations.bulkGet(ids) : [];
    // Messages that a restored server lost are queued again before.
    const unconfirmed = new Set(conversations.flatMap((row) => (row?.unconfirmed ? row.id : [])));
    this.#cancelBatchWait();
    if (batchDelayMs < Number.POSITIVE_INFINITY)
      this.#cancelBatchWait = platform.startTimer(batchDelayMs, () => this.schedule());
    const settled = due.filter(({ conversation }) => !unconfirmed.has(conversation));
    const sendable = await selectSendable(this.#context, settled, this.#mentions);
    return isPaced ? this.#pacer.pickNext(sendable) : sendable;
  }

  async #sendByFrames(): Promise<"done" | "again" | "retry"> {
    const { session } = this.#options;
    const due = session.isReady ? await this.#listDue() : [];
    if (due.length === 0) return "done";
    for (const frame of groupIntoFrames(due)) {
      const [row] = frame;
      const conversation = await this.#context.store.conversations.get(row.conversation);
      if (frame.some(({ cid }) => this.#inFlight.has(cid))) continue;
      const handle = conversation?.handle ?? row.conversation;
      if (!(frame.length > 1 ? session.sendMulticast(frame) : session.sendMessage(handle, row))) return "done";
      for (const message of frame) this.#trackInFlight(message);
    }
    return "again";
  }

  #trackInFlight({ cid, conversation }: OutboxRow): void {
    const cancel = this.#context.platform.startTimer(responseTimeoutMs, () => this.#handleTimeout(cid));
    this.#inFlight.set(cid, { conversation, cancel });
  }

  /** Sends a message again that was not answered in time, and probes the socket, which may be dead although open. */
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
    if (!this.#options.confirmState()) return "retry";
    const { conversation, multicastId } = first;
    // Messages written after a multicast to this conversation wait for the multicast.
    const end = due.findIndex(
      (row) => row.multicastId !== multicastId && row.multicastId !== undefined && row.conversation === conversation,
    );
    const rows = due
      .slice(0, end < 0 ? undefined : end)
      .filter((row) =>
        multicastId === undefined ? row.conversation === conversation : row.multicastId === multicastId,
      )
      .slice(0, this.#oneByOne.has(conversation) || this.#pacer.isActive ? 1 : sendBatchMax);
    this.#isSendingByHttp = true;
    try {
      await (rows.length > 1 && multicastId !== undefined
        ? this.#postMulticast(first, rows)
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
    const { epoch, sent } = await postMessages(this.#context.platform, conversation, rows);
    await this.#applySent(sent.map((place) => ({ type: "sent", conversation, epoch, ...place })));
  }

  async #postMulticast(first: OutboxRow, rows: readonly OutboxRow[]): Promise<void> {
    const { sent, refused } = await postMulticast(this.#context.platform, first, rows);
    await this.#applySent(sent.map((place) => ({ type: "sent", ...place })));
    for (const { cid, error, retryAfterMs } of refused)
      await this.handleRefusal(cid, new SyncError(error, retryAfterMs));
    const answered = new Set([...sent, ...refused].map(({ cid }) => cid));
    for (const { cid, conversation } of rows) if (!answered.has(cid)) this.#delayConversation(conversation);
  }

  async #applySent(changes: ServerChange[]): Promise<void> {
    this.#options.onApplied(await applyServerChanges(this.#context, changes));
  }
}
