import type { ConversationId } from "#contract/ids.ts";
import { gapPageRows, messagePageRows } from "#contract/limits/conversations.ts";
import { searchTextOfBody } from "#contract/messages/body.ts";
import type { CommandOf, CommandResults } from "#contract/wire/commands.ts";
import { retryDelayMs } from "#lib/http/backoff.ts";
import { asSyncError, isRetryableFailure } from "#sync/platform/sync-error.ts";
import type { LocalConversationRow } from "#sync/store/database.ts";
import { listSections } from "#sync/store/database.ts";
import type { SyncContext } from "#sync/store/sync-context.ts";
import { type ApplyResult, applyServerChanges } from "./apply/apply-server-changes.ts";
import { afterNewestSeq } from "./apply/log-confirmation.ts";

/** Newest page of an unconfirmed log. */
const toConfirmingPage = (conversation: ConversationId) =>
  ({ type: "page", conversation, direction: "before", seq: afterNewestSeq, limit: messagePageRows }) as const;

type RequestPages = <T extends "page" | "revised">(command: CommandOf<T>) => Promise<CommandResults[T]>;

const maxConcurrent = 2;
const prefetchConversations = 10;
const prefetchRows = 30;
const prefetchBytes = 64 * 1024; // for conversations nobody has opened yet
const messageBytes = 60; // approximate size of a message besides its text
const resyncsBeforeBackOff = 3;
const resyncBackOff = { baseMs: 30_000, maxMs: 30 * 60_000 };

/**
 * Whether messages are missing that this device should have unasked: those after the stored ones, unread ones, and one
 * to show in the list.
 */
const isMissingMessages = (row: LocalConversationRow): boolean =>
  row.unconfirmed !== undefined ||
  (row.storedTo < row.head &&
    row.epoch !== "" &&
    (row.storedFrom <= row.storedTo || row.unread > 0 || row.preview?.type === "withheld"));

/** Whether stored messages were revised since. */
const hasOutdatedMessages = (row: LocalConversationRow): boolean =>
  row.revised < row.revision && row.epoch !== "" && row.storedFrom <= row.storedTo;

/** Fetches missing or revised messages, most recent conversations first, a few at a time. */
export class MessageFetcher {
  readonly #context: SyncContext;
  readonly #request: RequestPages;
  readonly #onApplied: (result: ApplyResult) => void;
  #queue: ConversationId[] = [];
  #running = new Set<ConversationId>();
  #failures = new Map<ConversationId, number>();
  #resyncCounts = new Map<ConversationId, number>();
  #paused = new Map<ConversationId, () => void>();
  /** Opened by the person and not fetched yet. */
  #prioritized = new Set<ConversationId>();
  /** Logs to be compared with the server's although nothing seems to be missing. */
  #needsLogCheck = new Set<ConversationId>();
  #prefetchBudget = prefetchBytes;
  #isStopped = false;

  constructor(context: SyncContext, request: RequestPages, onApplied: (result: ApplyResult) => void) {
    this.#context = context;
    this.#request = request;
    this.#onApplied = onApplied;
  }

  /** Queues what a transaction left missing. */
  handleApplied({ rows, logResets, needsLogCheck }: Pick<ApplyResult, "rows" | "logResets" | "needsLogCheck">): void {
    for (const id of logResets) this.#resyncCounts.set(id, (this.#resyncCounts.get(id) ?? 0) + 1);
    for (const id of [...needsLogCheck, ...logResets]) this.#needsLogCheck.add(id);
    const incomplete = rows.filter(
      (row) =>
        isMissingMessages(row) ||
        hasOutdatedMessages(row) ||
        needsLogCheck.includes(row.id) ||
        logResets.includes(row.id),
    );
    incomplete.sort((a, b) => b.lastAt - a.lastAt);
    for (const { id } of incomplete) this.#enqueue(id);
    this.#runNext();
  }

  /** Fetches an opened conversation before all others and without delay. */
  prioritize(id: ConversationId): void {
    this.#unpause(id);
    this.#prioritized.add(id);
    this.#queue = [id, ...this.#queue.filter((other) => other !== id)];
    this.#runNext();
  }

  /** Retries paused conversations and prefetches the most recent ones, after a new connection. */
  async start(): Promise<void> {
    for (const id of [...this.#paused.keys()])
      if ((this.#resyncCounts.get(id) ?? 0) <= resyncsBeforeBackOff) this.#unpause(id);
    this.#prefetchBudget = prefetchBytes;
    let rank = 0;
    const incomplete: ConversationId[] = [];
    await this.#context.store.queryListed(listSections.main, listSections.pinned).each((row) => {
      if (
        isMissingMessages(row) ||
        hasOutdatedMessages(row) ||
        (rank++ < prefetchConversations && row.storedTo < row.head)
      )
        incomplete.push(row.id);
    });
    for (const id of incomplete) this.#enqueue(id);
    this.#runNext();
  }

  stop(): void {
    this.#isStopped = true;
    for (const cancel of this.#paused.values()) cancel();
  }

  #enqueue(id: ConversationId): void {
    if (!this.#queue.includes(id) && !this.#paused.has(id)) this.#queue.push(id);
  }

  #unpause(id: ConversationId): void {
    this.#paused.get(id)?.();
    this.#paused.delete(id);
  }

  #pause(id: ConversationId, ms: number): void {
    this.#unpause(id);
    if (this.#isStopped) return;
    const cancel = this.#context.platform.startTimer(ms, () => {
      this.#paused.delete(id);
      this.#enqueue(id);
      this.#runNext();
    });
    this.#paused.set(id, cancel);
  }

  #runNext(): void {
    while (!this.#isStopped && this.#running.size < maxConcurrent) {
      const id = this.#queue.find((other) => !this.#running.has(other));
      if (id === undefined) return;
      this.#queue = this.#queue.filter((other) => other !== id);
      this.#running.add(id);
      void this.#fetchPage(id)
        .catch((error: unknown) => this.#handleFailure(id, error))
        .finally(() => {
          this.#running.delete(id);
          this.#runNext();
        });
    }
  }

  #handleFailure(id: ConversationId, error: unknown): void {
    const failure = asSyncError(error);
    if (!isRetryableFailure(failure)) return; // no longer a member: the row will show it
    const failures = (this.#failures.get(id) ?? 0) + 1;
    this.#failures.set(id, failures);
    this.#pause(id, failure.retryAfterMs ?? retryDelayMs(failures, this.#context.platform.random));
  }

  /** Fetches one page; what is still missing is queued again. */
  async #fetchPage(id: ConversationId): Promise<void> {
    const row = await this.#context.store.conversations.get(id);
    if (!row) return;
    const resyncs = this.#resyncCounts.get(id) ?? 0;
    if (resyncs > resyncsBeforeBackOff) {
      this.#resyncCounts.set(id, resyncsBeforeBackOff);
      this.#pause(
        id,
        retryDelayMs(resyncs, () => 1, resyncBackOff),
      );
      return;
    }
    if (hasOutdatedMessages(row) && row.storedTo >= row.head && !row.unconfirmed) return this.#fetchRevisions(row);
    const command = this.#toPageCommand(row);
    if (!command) return;
    const page = await this.#request(command).catch((error: unknown) => {
      if (!row.unconfirmed || isRetryableFailure(asSyncError(error))) throw error;
    });
    if (!page) return this.#onApplied(await applyServerChanges(this.#context, [{ type: "noLog", conversation: id }]));
    const request = { ...command, head: row.head, revised: row.revised };
    const result = await applyServerChanges(this.#context, [{ type: "page", request, page }]);
    this.#prioritized.delete(id);
    this.#needsLogCheck.delete(id);
    this.#prefetchBudget -= page.messages.reduce(
      (sum, { body }) => sum + messageBytes + searchTextOfBody(body).length,
      0,
    );
    this.#onApplied(result);
    const after = result.rows.find((other) => other.id === id);
    if (
      result.logResets.length > 0 ||
      (after && (after.storedTo > row.storedTo || after.storedFrom !== row.storedFrom))
    )
      this.#failures.delete(id);
    // A page without progress while something is missing would be requested endlessly.
    else if (after && (after.storedTo < after.head || after.unconfirmed)) this.#handleFailure(id, undefined);
  }

  /** Fetches messages revised after the stored revision. A page without progress is not requested again at once. */
  async #fetchRevisions({ id, epoch, revised }: LocalConversationRow): Promise<void> {
    const { revision, messages, ...answer } = await this.#request({
      type: "revised",
      conversation: id,
      since: revised,
    });
    const change = { type: "revised", target: id, epoch: answer.epoch, since: revised, revision, messages } as const;
    const result = await applyServerChanges(this.#context, [change]);
    this.#onApplied(result);
    const after = result.rows.find((row) => row.id === id);
    if (after && after.epoch === epoch && after.revised <= revised && hasOutdatedMessages(after))
      this.#handleFailure(id, undefined);
    else this.#failures.delete(id);
  }

  #toPageCommand(row: LocalConversationRow): CommandOf<"page"> | undefined {
    const { id, head, storedTo, storedFrom } = row;
    const isEmpty = storedFrom > storedTo;
    if (row.unconfirmed) return toConfirmingPage(id);
    if (storedTo >= head && !this.#needsLogCheck.has(id)) return undefined;
    if (storedTo >= head) return { type: "page", conversation: id, direction: "after", seq: head, limit: 1 };
    const isWanted = isMissingMessages(row) || this.#prioritized.has(id) || this.#needsLogCheck.has(id);
    if (!isWanted && this.#prefetchBudget <= 0) return undefined;
    if (head - storedTo > (isEmpty ? messagePageRows : gapPageRows))
      return {
        type: "page",
        conversation: id,
        direction: "before",
        seq: head + 1,
        limit: isEmpty ? prefetchRows : messagePageRows,
      };
    return { type: "page", conversation: id, direction: "after", seq: storedTo, limit: gapPageRows };
  }
}
