import { liveQuery } from "dexie";
import type { Uuid } from "#contract/ids.ts";
import type { Platform } from "#sync/platform/platform.ts";
import { type LocalStore, type OutboxRow, toStoreName } from "#sync/store/database.ts";

/**
 * The outbox as this page last read it, without the bytes of files. A browser can take the store away under a running
 * page, or find it unreadable at the next start: texts are noted besides (see `journal.ts`), and of files it is noted how
 * many waited, so that their author hears of it when they are gone.
 */
export class UnsentMirror {
  readonly #platform: Platform;
  readonly #me: Uuid;
  #rows: readonly OutboxRow[] = [];
  #unsubscribe = () => {};

  constructor(platform: Platform, me: Uuid) {
    this.#platform = platform;
    this.#me = me;
  }

  /** What was unsent when it was last read. */
  get rows(): readonly OutboxRow[] {
    return this.#rows;
  }

  /** How many of them name a file; also of the page before this one. */
  get fileCount(): number {
    return Number(this.#platform.localStorage?.getItem(this.#fileCountKey) ?? 0) || 0;
  }

  follow(store: LocalStore): void {
    this.#unsubscribe();
    const subscription = liveQuery(() => store.outbox.orderBy("order").toArray()).subscribe({
      next: (rows) => {
        this.#rows = rows;
        this.recordFileCount(rows.filter(({ body }) => body.type !== "text").length);
      },
      error: () => {}, // the store's trouble is dealt with elsewhere
    });
    this.#unsubscribe = () => subscription.unsubscribe();
  }

  stop(): void {
    this.#unsubscribe();
  }

  get #fileCountKey(): string {
    return `${toStoreName(this.#me)}-files`;
  }

  /** So many of the messages that are unsent name a file. */
  recordFileCount(count: number): void {
    if (count === this.fileCount) return;
    try {
      if (count === 0) this.#platform.localStorage?.removeItem(this.#fileCountKey);
      else this.#platform.localStorage?.setItem(this.#fileCountKey, String(count));
    } catch {
      // No room: then nobody hears of it.
    }
  }
}
