import * as v from "valibot";
import { ConversationId, Uuid } from "#contract/ids.ts";
import { toBackgroundOutboxName } from "./background-sync.ts";

/**
 * Entry of the service worker's outbox: a reply that was written in a notification and is not known to be sent; the
 * place in the log of a message that the worker sent from the app's outbox; a conversation that was read up to `head`
 * in its notification.
 */
export const BackgroundEntry = v.variant("type", [
  v.object({ type: v.literal("reply"), cid: Uuid, conversation: ConversationId, text: v.string() }),
  v.object({
    type: v.literal("sent"),
    cid: Uuid,
    conversation: ConversationId,
    place: v.object({ epoch: v.string(), seq: v.number(), at: v.number() }),
  }),
  v.object({ type: v.literal("read"), conversation: ConversationId, head: v.number() }),
]);
export type BackgroundEntry = v.InferOutput<typeof BackgroundEntry>;

/** Entry with its position; entries keep the order in which they were written. */
const StoredEntry = v.object({ n: v.number(), entry: BackgroundEntry });
export type StoredEntry = v.InferOutput<typeof StoredEntry>;

/** `locks` is undefined where the browser has no Web Locks. */
type Environment = { indexedDB: IDBFactory; locks: Pick<LockManager, "request"> | undefined };

const tableName = "entries";

/**
 * Outbox of one person that the service worker writes while the app may be closed. It is a database of its own, so that
 * the worker depends neither on Dexie nor on the version of the local store. The app takes its entries over
 * (`src/sync/sending/adopt-background-outbox.ts`) and deletes it when it is empty.
 */
export class BackgroundOutbox {
  readonly #name: string;
  readonly #environment: Environment;

  constructor(user: Uuid, environment: Environment = { indexedDB, locks: navigator.locks }) {
    this.#name = toBackgroundOutboxName(user);
    this.#environment = environment;
  }

  /** Entries in the order of writing. Unreadable ones are skipped. */
  list(): Promise<StoredEntry[]> {
    return this.#withLock(async () => {
      if (!(await this.#exists())) return [];
      const rows: unknown[] = await this.#transact("readonly", (table) => table.getAll());
      return rows.flatMap((row) => {
        const parsed = v.safeParse(StoredEntry, row);
        return parsed.success ? [parsed.output] : [];
      });
    });
  }

  /** Writes entries. Resolves once they are on disk. */
  async insert(entries: readonly BackgroundEntry[]): Promise<void> {
    await this.#withLock(() =>
      this.#transact("readwrite", (table) => {
        for (const entry of entries) table.add({ entry });
        return table.count();
      }),
    );
  }

  /** Deletes the entry at a position, and writes the one that replaces it. */
  async replace(n: number, next?: BackgroundEntry): Promise<void> {
    await this.#withLock(async () => {
      if (!(await this.#exists())) return;
      await this.#transact("readwrite", (table) => {
        if (next) table.add({ entry: next });
        return table.delete(n);
      });
    });
  }

  /** Deletes the database unless it has entries, unreadable ones included. */
  deleteIfEmpty(): Promise<void> {
    return this.#withLock(async () => {
      if (!(await this.#exists())) return;
      if ((await this.#transact("readonly", (table) => table.count())) === 0) await this.#deleteDatabase();
    });
  }

  /** Deletes the database with its entries. */
  delete(): Promise<void> {
    return this.#withLock(() => this.#deleteDatabase());
  }

  async #exists(): Promise<boolean> {
    const databases = await this.#environment.indexedDB.databases();
    return databases.some(({ name }) => name === this.#name);
  }

  /** Keeps an entry from being written between the look into an empty database and its deletion. */
  #withLock<T>(work: () => Promise<T>): Promise<T> {
    const { locks } = this.#environment;
    return locks ? (locks.request(this.#name, work) as Promise<T>) : work();
  }

  async #transact<T>(mode: IDBTransactionMode, run: (table: IDBObjectStore) => IDBRequest<T>): Promise<T> {
    const database = await new Promise<IDBDatabase>((resolve, reject) => {
      const opening = this.#environment.indexedDB.open(this.#name, 1);
      opening.onupgradeneeded = () =>
        opening.result.createObjectStore(tableName, { keyPath: "n", autoIncrement: true });
      opening.onsuccess = () => resolve(opening.result);
      opening.onerror = () => reject(opening.error);
    });
    try {
      return await new Promise<T>((resolve, reject) => {
        const transaction = database.transaction(tableName, mode, { durability: "strict" });
        const request = run(transaction.objectStore(tableName));
        transaction.oncomplete = () => resolve(request.result);
        transaction.onabort = () => reject(transaction.error);
      });
    } finally {
      database.close();
    }
  }

  #deleteDatabase(): Promise<void> {
    return new Promise((resolve, reject) => {
      const deleting = this.#environment.indexedDB.deleteDatabase(this.#name);
      deleting.onsuccess = () => resolve();
      deleting.onerror = () => reject(deleting.error);
    });
  }
}
