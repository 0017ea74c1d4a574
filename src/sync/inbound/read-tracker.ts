import type { ConversationId } from "#contract/ids.ts";
import { receiptCoalesceMs } from "#contract/limits/delivery.ts";
import type { LocalConversationRow } from "#sync/store/database.ts";
import { runInBackground } from "#sync/store/sync-context.ts";
import type { SyncPort } from "#sync/store/sync-port.ts";

/** Stores the read positions of conversations, at most once every `receiptCoalesceMs`, for the leader to report. */
export class ReadTracker {
  readonly #port: SyncPort;
  #readUpTo = new Map<ConversationId, number>();
  #cancel: (() => void) | undefined;

  constructor(port: SyncPort) {
    this.#port = port;
  }

  markRead(conversation: ConversationId, seq: number): void {
    if (seq <= (this.#readUpTo.get(conversation) ?? 0)) return;
    this.#readUpTo.set(conversation, seq);
    this.#cancel ??= this.#port.platform.startTimer(receiptCoalesceMs, () => {
      const context = this.#port.context.get();
      if (context) runInBackground(context, this.flush());
    });
  }

  async flush(): Promise<void> {
    this.#cancel?.();
    this.#cancel = undefined;
    const context = this.#port.context.get();
    if (!context) return; // the positions wait until the database is open
    const positions = [...this.#readUpTo];
    this.#readUpTo.clear();
    for (const [conversation, seq] of positions) {
      const isNew = await context.store.conversations
        .where("id")
        .equals(conversation)
        .modify((row) => applyRead(row, seq));
      if (isNew > 0) this.#port.reportRead(conversation);
    }
  }
}

const applyRead = (row: LocalConversationRow, seq: number): void => {
  // Own messages need no receipt, so the position is at most that of the last message from somebody else.
  row.wantRead = Math.max(row.wantRead, Math.min(seq, Math.max(row.wantDelivered, row.delivered)));
  if (row.storedTo >= row.head && row.wantRead >= row.wantDelivered) row.unread = 0;
};
