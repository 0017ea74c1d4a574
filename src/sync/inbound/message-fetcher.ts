import { wordsOf } from "#contract/conversations.ts";
import type { ConversationId } from "#contract/ids.ts";
import { gapPageRows, messagePageRows } from "#contract/limits.ts";
import type { CommandOf, CommandResults } from "#contract/wire/commands.ts";
import { retryDelayMs } from "#lib/http/backoff.ts";
import { asSyncError, isWorthRetry } from "#sync/platform/sync-error.ts";
import type { Context } from "#sync/store/context.ts";
import type { ConversationRow } from "#sync/store/database.ts";
import type { Applied } from "./apply-changes.ts";
import { forkQuestion } from "./log-forks.ts";
import { takeIn } from "./take-in.ts";

type Ask = <T extends "page" | "revised">(command: CommandOf<T>) => Promise<CommandResults[T]>;

const atOnce = 2;
const prefetchConversations = 10;
const prefetchRows = 30;
const prefetchBytes = 64 * 1024; // of what nobody asked to see yet
const messageBytes = 60; // what a message costs besides its words, about
const resyncsBeforeBackOff = 3;
const resyncBackOff = { baseMs: 30_000, maxMs: 30 * 60_000 };

/** Whether messages are missing that this device should have without being asked; a row with nothing to show needs some. */
const isLacking = (row: ConversationRow): boolean =>
  row.forked !== undefined ||
  (row.hi < row.head && row.epoch !== "" && (row.lo <= row.hi || row.unread > 0 || row.preview?.type === "withheld"));

/** Whether messages that are held here were changed since. */
const isOutdated = (row: ConversationRow): boolean =>
  row.revised < row.revision && row.epoch !== "" && row.lo <= row.hi;

/** Fetches the messages that are missing or were changed, most recent conversations first, a few at a time. */
export class Fetcher {
  readonly #context: Context;
  readonly #ask: Ask;
  readonly #applied: (applied: Applied) => void;
  #waiting: ConversationId[] = [];
  #running = new Set<ConversationId>();
  #failures = new Map<ConversationId, number>();
  #resyncs = new Map<ConversationId, number>();
  #paused = new Map<ConversationId, () => void>();
  /** Looked at by somebody and not fetched yet. */
  #opened = new Set<ConversationId>();
  /** To be compared with the server's log although nothing seems to be missing. */
  #doubtful = new Set<ConversationId>();
  #budget = prefetchBytes;
  #isStopped = false;

  constructor(context: Context, ask: Ask, applied: (applied: Applied) => void) {
    this.#context = context;
    this.#ask = ask;
    this.#applied = applied;
  }

  /** After a transaction: what it left missing is fetched. */
  notice({ rows, reset, doubtful }: Pick<Applied, "rows" | "reset" | "doubtful">): void {
    for (const id of reset) this.#resyncs.set(id, (this.#resyncs.get(id) ?? 0) + 1);
    for (const id of [...doubtful, ...reset]) this.#doubtful.add(id);
    const wanted = rows.filter(
      (row) => isLacking(row) || isOutdated(row) || doubtful.includes(row.id) || reset.includes(row.id),
    );
    wanted.sort((a, b) => b.lastAt - a.lastAt);
    for (const { id } of wanted) this.#want(id);
    this.#next();
  }

  /** Somebody looks at it: before all others, and now. */
  open(id: ConversationId): void {
    this.#resume(id);
    this.#opened.add(id);
    this.#waiting = [id, ...this.#waiting.filter((other) => other !== id)];
    this.#next();
  }

  /** The link is there: everything that waited is tried, and the most recent conversations are made ready to open. */
  async start(): Promise<void> {
    for (const id of [...this.#paused.keys()])
      if ((this.#resyncs.get(id) ?? 0) <= resyncsBeforeBackOff) this.#resume(id);
    this.#budget = prefetchBytes;
    let place = 0;
    const lacking: ConversationId[] = [];
    await this.#context.store.conversations
      .where("[listed+lastAt]")
      .between([1, 0], [1, Number.MAX_SAFE_INTEGER])
      .reverse()
      .each((row) => {
        if (isLacking(row) || isOutdated(row) || (place++ < prefetchConversations && row.hi < row.head))
          lacking.push(row.id);
      });
    for (const id of lacking) this.#want(id);
    this.#next();
  }

  stop(): void {
    this.#isStopped = true;
    for (const cancel of this.#paused.values()) cancel();
  }

  #want(id: ConversationId): void {
    if (!this.#waiting.includes(id) && !this.#paused.has(id)) this.#waiting.push(id);
  }

  #resume(id: ConversationId): void {
    this.#paused.get(id)?.();
    this.#paused.delete(id);
  }

  #pause(id: ConversationId, ms: number): void {
    this.#resume(id);
    if (this.#isStopped) return;
    const cancel = this.#context.platform.after(ms, () => {
      this.#paused.delete(id);
      this.#want(id);
      this.#next();
    });
    this.#paused.set(id, cancel);
  }

  #next(): void {
    while (!this.#isStopped && this.#running.size < atOnce) {
      const id = this.#waiting.find((other) => !this.#running.has(other));
      if (id === undefined) return;
      this.#waiting = this.#waiting.filter((other) => other !== id);
      this.#running.add(id);
      void this.#fetch(id)
        .catch((error: unknown) => this.#fail(id, error))
        .finally(() => {
          this.#running.delete(id);
          this.#next();
        });
    }
  }

  #fail(id: ConversationId, error: unknown): void {
    const failure = asSyncError(error);
    if (!isWorthRetry(failure)) return; // not a member any more: its row will say so
    const failures = (this.#failures.get(id) ?? 0) + 1;
    this.#failures.set(id, failures);
    this.#pause(id, failure.retryAfterMs ?? retryDelayMs(failures, this.#context.platform.random));
  }

  /** One page; what it leaves missing is noticed and fetched next. */
  async #fetch(id: ConversationId): Promise<void> {
    const row = await this.#context.store.conversations.get(id);
    if (!row) return;
    const resyncs = this.#resyncs.get(id) ?? 0;
    if (resyncs > resyncsBeforeBackOff) {
      this.#resyncs.set(id, resyncsBeforeBackOff);
      this.#pause(
        id,
        retryDelayMs(resyncs, () => 1, resyncBackOff),
      );
      return;
    }
    if (isOutdated(row) && row.hi >= row.head && !row.forked) return this.#revise(row);
    const question = this.#question(row);
    if (!question) return;
    const page = await this.#ask(question);
    const asked = { ...question, head: row.head, revised: row.revised };
    const applied = await takeIn(this.#context, [{ type: "page", asked, page }]);
    this.#opened.delete(id);
    this.#doubtful.delete(id);
    this.#budget -= page.messages.reduce((sum, { body }) => sum + messageBytes + wordsOf(body).length, 0);
    this.#applied(applied);
    const after = applied.rows.find((other) => other.id === id);
    if (applied.reset.length > 0 || (after && (after.hi > row.hi || after.lo !== row.lo))) this.#failures.delete(id);
    // A page that brings nothing while something is missing would be asked for without end.
    else if (after && (after.hi < after.head || after.forked)) this.#fail(id, undefined);
  }

  /** What was changed after the revision held here; a page of it that leads no further is not asked for at once again. */
  async #revise({ id, epoch, revised }: ConversationRow): Promise<void> {
    const { revision, messages, ...answer } = await this.#ask({ type: "revised", conversation: id, since: revised });
    const change = { type: "changed", of: id, epoch: answer.epoch, since: revised, revision, messages } as const;
    const applied = await takeIn(this.#context, [change]);
    this.#applied(applied);
    const after = applied.rows.find((row) => row.id === id);
    if (after && after.epoch === epoch && after.revised <= revised && isOutdated(after)) this.#fail(id, undefined);
    else this.#failures.delete(id);
  }

  #question(row: ConversationRow): CommandOf<"page"> | undefined {
    const { id, head, hi, lo } = row;
    const isEmpty = lo > hi;
    if (row.forked) return forkQuestion(row, messagePageRows);
    if (hi >= head && !this.#doubtful.has(id)) return undefined;
    if (hi >= head) return { type: "page", conversation: id, direction: "after", seq: head, limit: 1 };
    const isWanted = isLacking(row) || this.#opened.has(id) || this.#doubtful.has(id);
    if (!isWanted && this.#budget <= 0) return undefined;
    if (head - hi > (isEmpty ? messagePageRows : gapPageRows))
      return {
        type: "page",
        conversation: id,
        direction: "before",
        seq: head + 1,
        limit: isEmpty ? prefetchRows : messagePageRows,
        ...(isEmpty ? {} : { held: hi }),
      };
    return { type: "page", conversation: id, direction: "after", seq: hi, limit: gapPageRows };
  }
}
