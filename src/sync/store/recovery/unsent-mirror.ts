import { liveQuery } from "dexie";
import type { Uuid } from "#contract/ids.ts";
import type { Platform } from "#sync/platform/platform.ts";
import { type LocalStore, type OutboxRow, toStoreName } from "#sync/store/database.ts";
import { type KnownNames, noKnownNames, readKnownNames } from "./known-names.ts";

/**
 * In-memory copy of the outbox, without the bytes of files. A browser can delete the database under a running page, or
 * find it unreadable at the next start. Texts are journaled as well (see `journal.ts`). Of messages with files only the
 * number is saved, so that their author is told when they are lost.
 */
export class UnsentMirror {
  readonly #platform: Platform;
  readonly #me: Uuid;
  #rows: readonly OutboxRow[] = [];
  #names = noKnownNames;
  #unsubscribe = () => {};

  constructor(platform: Platform, me: Uuid) {
    this.#platform = platform;
    this.#me = me;
  }

  /** Outbox rows as last read. */
  get rows(): readonly OutboxRow[] {
    return this.#rows;
  }

  /** Names of the people and groups that the rows are addressed to. */
  get names(): KnownNames {
    return this.#names;
  }

  /** Number of unsent messages with files, as last saved by this page or an earlier one. */
  get fileCount(): number {
    return Number(this.#platform.localStorage?.getItem(this.#fileCountKey) ?? 0) || 0;
  }

  follow(store: LocalStore): void {
    this.#unsubscribe();
    const readUnsent = () =>
      store.transaction("r", [store.outbox, store.people, store.conversations], async () => {
        const rows = await store.outbox.orderBy("order").toArray();
        const conversations = rows.map(({ conversation }) => conversation);
        return { rows, names: rows.length > 0 ? await readKnownNames(store, conversations) : noKnownNames };
      });
    const subscription = liveQuery(readUnsent).subscribe({
      next: ({ rows, names }) => {
        this.#rows = rows;
        this.#names = names;
        this.recordFileCount(rows.filter(({ body }) => body.type !== "text").length);
      },
      error: () => {}, // store failures are handled elsewhere
    });
    this.#unsubscribe = () => subscription.unsubscribe();
  }

  stop(): void {
    this.#unsubscribe();
  }

  get #fileCountKey(): string {
    return `${toStoreName(this.#me)}-files`;
  }

  /** Saves the number of unsent messages with files. */
  recordFileCount(count: number): void {
    if (count === this.fileCount) return;
    try {
      if (count === 0) this.#platform.localStorage?.removeItem(this.#fileCountKey);
      else this.#platform.localStorage?.setItem(this.#fileCountKey, String(count));
    } catch {
      // Quota exceeded: a loss will go unnoticed.
    }
  }
}
