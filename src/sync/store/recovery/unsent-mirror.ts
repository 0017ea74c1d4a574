import { liveQuery } from "dexie";
import type { Uuid } from "#contract/ids.ts";
import type { Platform } from "#sync/platform/platform.ts";
import { type OutboxRow, type Store, storeName } from "#sync/store/database.ts";

/**
 * The outbox as this page last read it, without the bytes of files. A browser can take the store away under a running
 * page, or find it unreadable at the next start: texts are noted besides (see `journal.ts`), and of files it is noted how
 * many waited, so that their author hears of it when they are gone.
 */
export class UnsentMirror {
  readonly #platform: Platform;
  readonly #me: Uuid;
  #rows: readonly OutboxRow[] = [];
  #stop = () => {};

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
    return Number(this.#platform.notes?.getItem(this.#key) ?? 0) || 0;
  }

  follow(store: Store): void {
    this.#stop();
    const subscription = liveQuery(() => store.outbox.orderBy("order").toArray()).subscribe({
      next: (rows) => {
        this.#rows = rows;
        this.note(rows.filter(({ body }) => body.type !== "text").length);
      },
      error: () => {}, // the store's trouble is dealt with elsewhere
    });
    this.#stop = () => subscription.unsubscribe();
  }

  stop(): void {
    this.#stop();
  }

  get #key(): string {
    return `${storeName(this.#me)}-files`;
  }

  /** So many of the messages that are unsent name a file. */
  note(count: number): void {
    if (count === this.fileCount) return;
    try {
      if (count === 0) this.#platform.notes?.removeItem(this.#key);
      else this.#platform.notes?.setItem(this.#key, String(count));
    } catch {
      // No room: then nobody hears of it.
    }
  }
}
