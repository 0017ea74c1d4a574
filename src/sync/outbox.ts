import type { SendResult } from "../../contract/commands";
import type { ErrorCode } from "../../contract/errors";
import type { ConversationId, Uuid } from "../../contract/ids";
import { outboxWindow } from "../../contract/limits";
import { retryDelayMs } from "../lib/backoff";
import type { Applied } from "./apply";
import { type Context, takeIn } from "./context";
import { readCursor } from "./cursor";
import type { Line } from "./line";
import { Retry } from "./retry";
import type { OutboxRow } from "./store";
import { asSyncError, isWorthRetry, type SyncError } from "./sync-error";

const unansweredMs = 10_000;
const giveUpMs = 7 * 24 * 3_600_000;

export type OutboxOptions = {
  line: Pick<Line, "isUp" | "sendMessage" | "probe">;
  /** Whether messages go by HTTP now. */
  usesHttp(): boolean;
  post(conversation: ConversationId, messages: OutboxRow[]): Promise<SendResult>;
  applied(applied: Applied): void;
};

type Blocked = { attempts: number; cancel: (() => void) | undefined };

/**
 * Brings what was written here to the server: per conversation in the order it was written, a few at a time,
 * again and again under the same client id until the server has it or refuses it for good.
 */
export class Outbox {
  readonly #context: Context;
  readonly #options: OutboxOptions;
  readonly #pump: Retry;
  readonly #poster: Retry;
  /**
   * On the socket and not answered yet, with what ends the wait. What is on its way by HTTP is not among them: a
   * socket that opens meanwhile sends it too, and so the next message cannot overtake it.
   */
  #underWay = new Map<Uuid, { conversation: ConversationId; cancel: () => void }>();
  #blocked = new Map<ConversationId, Blocked>();
  /** Conversations whose messages go one by one, to find the one that the server refuses. */
  #single = new Set<ConversationId>();

  constructor(context: Context, options: OutboxOptions) {
    this.#context = context;
    this.#options = options;
    this.#pump = new Retry(context.platform, () => this.#sendDue());
    this.#poster = new Retry(context.platform, () => this.#postDue());
  }

  /** Something was written, or room was made. */
  want(): void {
    this.#pump.want();
    this.#poster.want();
  }

  /** The link is there: what waited for its turn is tried now. */
  hurry(): void {
    for (const blocked of this.#blocked.values()) blocked.cancel?.();
    this.#blocked.clear();
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
      if (conversation !== undefined && !this.#isBlocked(conversation)) this.#blocked.delete(conversation);
      this.#end(cid);
    }
    if (cids.length > 0) this.want();
  }

  async refused(cid: Uuid, error: SyncError): Promise<void> {
    this.#end(cid);
    const { strict } = this.#context;
    const row = await strict.outbox.get(cid);
    if (!row) return;
    if (isWorthRetry(error)) {
      await strict.outbox.update(cid, { attempts: row.attempts + 1 });
      this.#block(row.conversation, error.retryAfterMs);
    } else {
      await this.#giveUp(cid, error.code as ErrorCode);
      this.want();
    }
  }

  /** From here on only its author can have it sent again. */
  async #giveUp(cid: Uuid, error: ErrorCode): Promise<void> {
    await this.#context.strict.outbox.update(cid, { state: "failed", error });
  }

  stop(): void {
    this.#pump.stop();
    this.#poster.stop();
    for (const cid of [...this.#underWay.keys()]) this.#end(cid);
    for (const blocked of this.#blocked.values()) blocked.cancel?.();
  }

  #end(cid: Uuid): void {
    this.#underWay.get(cid)?.cancel();
    this.#underWay.delete(cid);
  }

  #block(conversation: ConversationId, retryAfterMs: number | undefined): void {
    const { platform } = this.#context;
    const before = this.#blocked.get(conversation);
    before?.cancel?.();
    const attempts = (before?.attempts ?? 0) + 1;
    const delay = retryAfterMs ?? retryDelayMs(attempts, platform.random);
    const blocked: Blocked = { attempts, cancel: undefined };
    blocked.cancel = platform.after(delay, () => {
      blocked.cancel = undefined;
      this.want();
    });
    this.#blocked.set(conversation, blocked);
  }

  #isBlocked(conversation: ConversationId): boolean {
    return this.#blocked.get(conversation)?.cancel !== undefined;
  }

  /** What may go now, oldest first: no message before an earlier one of its conversation. */
  async #due(): Promise<OutboxRow[]> {
    const due: OutboxRow[] = [];
    const expired: Uuid[] = [];
    const { skew } = await readCursor(this.#context.store);
    const deadline = this.#context.platform.now() + skew - giveUpMs;
    await this.#context.store.outbox
      .orderBy("order")
      .until(() => due.length + this.#underWay.size >= outboxWindow)
      .each((row) => {
        if (row.state !== "queued" || this.#underWay.has(row.cid) || this.#isBlocked(row.conversation)) return;
        if (row.createdAt < deadline) expired.push(row.cid);
        else due.push(row);
      });
    for (const cid of expired) await this.#giveUp(cid, "unavailable");
    return due;
  }

  async #sendDue(): Promise<"done" | "again" | "retry"> {
    const { line } = this.#options;
    const due = line.isUp ? await this.#due() : [];
    if (due.length === 0) return "done";
    for (const row of due) {
      const conversation = await this.#context.store.conversations.get(row.conversation);
      if (this.#underWay.has(row.cid)) continue;
      if (!line.sendMessage(row.conversation, conversation?.handle ?? row.conversation, row)) return "done";
      const cancel = this.#context.platform.after(unansweredMs, () => this.#unanswered(row.cid));
      this.#underWay.set(row.cid, { conversation: row.conversation, cancel });
    }
    return "again";
  }

  /** An open socket proves nothing. Sent again under the same id it is stored once all the same. */
  #unanswered(cid: Uuid): void {
    this.#end(cid);
    this.#options.line.probe();
    this.want();
  }

  async #postDue(): Promise<"done" | "again" | "retry"> {
    const { line, usesHttp, post, applied } = this.#options;
    const due = !line.isUp && usesHttp() ? await this.#due() : [];
    const conversation = due[0]?.conversation;
    if (conversation === undefined || line.isUp) return "done";
    const isSingle = this.#single.has(conversation);
    const rows = due.filter((row) => row.conversation === conversation).slice(0, isSingle ? 1 : outboxWindow);
    try {
      const { epoch, sent } = await post(conversation, rows);
      const changes = sent.map((place) => ({ type: "sent", conversation, epoch, ...place }) as const);
      applied(await takeIn(this.#context, changes));
      this.#single.delete(conversation);
      return "again";
    } catch (error) {
      const failure = asSyncError(error);
      if (failure.code === "offline") return "retry";
      if (isWorthRetry(failure)) this.#block(conversation, failure.retryAfterMs);
      else if (rows.length > 1) this.#single.add(conversation);
      else if (rows[0]) await this.refused(rows[0].cid, failure);
      return "again";
    }
  }
}
