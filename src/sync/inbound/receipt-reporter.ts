import type { ConversationId } from "#contract/ids.ts";
import { receiptCoalesceMs } from "#contract/limits/delivery.ts";
import { clampReadState, type ReadState } from "#contract/messages/positions.ts";
import type { Command } from "#contract/wire/commands.ts";
import { retryDelayMs } from "#lib/http/backoff.ts";
import type { LocalConversationRow } from "#sync/store/database.ts";
import { toOwnReadState } from "#sync/store/row-mapping.ts";
import { runInBackground, type SyncContext } from "#sync/store/sync-context.ts";
import { applyServerChanges } from "./apply/apply-server-changes.ts";

export type SendReceipt = (row: LocalConversationRow, command: Extract<Command, { type: "mark" }>) => Promise<boolean>;

/** Delay after which a receipt that the server's row does not show is sent again; doubles each time. */
const resendBackoff = { baseMs: 10_000, maxMs: 5 * 60_000 };

type ReportedReceipt = ReadState & { times: number; cancel: () => void };

/** Reports delivered and read positions to the server, in short batches. */
export class ReceiptReporter {
  readonly #context: SyncContext;
  readonly #sendReceipt: SendReceipt;
  #dirty = new Set<ConversationId>();
  #reported = new Map<ConversationId, ReportedReceipt>();
  #cancel: (() => void) | undefined;
  #isStopped = false;

  constructor(context: SyncContext, sendReceipt: SendReceipt) {
    this.#context = context;
    this.#sendReceipt = sendReceipt;
  }

  /** Queues the rows whose positions a transaction may have moved. */
  enqueueRows(rows: readonly LocalConversationRow[]): void {
    for (const row of rows) if (this.#findUnreported(row)) this.#dirty.add(row.id);
    this.#schedule();
  }

  /** Queues every receipt the server lacks, after a new connection. */
  async enqueueAll(): Promise<void> {
    for (const reported of this.#reported.values()) reported.cancel();
    this.#reported.clear();
    await this.#context.store.conversations.each((row) => {
      if (this.#findUnreported(row)) this.#dirty.add(row.id);
    });
    this.#schedule();
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel?.();
    for (const reported of this.#reported.values()) reported.cancel();
  }

  /** Read state that the server's row does not show and that was not reported recently. */
  #findUnreported(row: LocalConversationRow): ReadState | undefined {
    if (row.epoch === "") return undefined;
    const readState = clampReadState(toOwnReadState(row), row.head);
    if (readState.delivered <= row.delivered && readState.read <= row.read) {
      this.#reported.get(row.id)?.cancel();
      this.#reported.delete(row.id);
      return undefined;
    }
    const reported = this.#reported.get(row.id);
    return reported && readState.delivered <= reported.delivered && readState.read <= reported.read
      ? undefined
      : readState;
  }

  #schedule(): void {
    if (this.#dirty.size === 0 || this.#cancel || this.#isStopped) return;
    this.#cancel = this.#context.platform.startTimer(receiptCoalesceMs, () => {
      this.#cancel = undefined;
      runInBackground(this.#context, this.#flush());
    });
  }

  async #flush(): Promise<void> {
    const ids = [...this.#dirty];
    this.#dirty.clear();
    for (const row of await this.#context.store.conversations.bulkGet(ids)) {
      const readState = row && this.#findUnreported(row);
      if (!row || !readState) continue;
      const isSent = await this.#sendReceipt(row, { type: "mark", conversation: row.id, ...readState }).catch(
        () => false,
      );
      this.#recordReport(row.id, readState, isSent);
    }
  }

  #recordReport(id: ConversationId, readState: ReadState, isSent: boolean): void {
    if (this.#isStopped) return;
    const before = this.#reported.get(id);
    before?.cancel();
    const times = (before?.times ?? 0) + 1;
    const cancel = this.#context.platform.startTimer(
      retryDelayMs(times - 1, () => 1, resendBackoff),
      () => {
        const reported = this.#reported.get(id);
        if (reported) this.#reported.set(id, { delivered: 0, read: 0, times: reported.times, cancel: () => {} });
        this.#dirty.add(id);
        this.#schedule();
      },
    );
    this.#reported.set(id, { ...(isSent ? readState : { delivered: 0, read: 0 }), times, cancel });
  }
}

/** Applies the answer to a receipt sent by HTTP: the unread count up to `head`. */
export const applyReceiptResult = (
  context: SyncContext,
  { conversation: target, ...count }: ReadState & { conversation: ConversationId; unread: number; head: number },
) => applyServerChanges(context, [{ type: "ownRead", target, ...count }]);
