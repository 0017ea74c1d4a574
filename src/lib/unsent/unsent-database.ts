import type { Uuid } from "#contract/ids.ts";
import { storeNamePrefix } from "#lib/browser/push/background-sync.ts";

/** Tables of unsent data with the property that is the key of their rows. */
export const unsentKeys = {
  drafts: "conversation",
  outbox: "cid",
  reads: "conversation",
  operations: "key",
  attachments: "key",
  recordings: "key",
  posts: "id",
  uploads: "file",
} as const;
export type UnsentTable = keyof typeof unsentKeys;

/** Table of the bytes that rows of the others name: files, chunks of recordings, pictures. Read one at a time. */
export const bytesTable = "bytes";
type AnyTable = UnsentTable | typeof bytesTable;

/**
 * Tables of a version of the database. A later version may only add tables: pages of both versions use the database
 * while the app is updated.
 */
export type UnsentSchema = { version: number; keys: Readonly<Record<string, string>> };
const currentSchema: UnsentSchema = { version: 4, keys: { ...unsentKeys, [bytesTable]: "id" } };

/** Parts of a page, a service worker or a test that the database uses. */
export type UnsentEnvironment = {
  indexedDB: IDBFactory;
  openChannel(name: string): Pick<BroadcastChannel, "postMessage" | "close" | "onmessage"> | undefined;
};

export type UnsentEvents = {
  /** Another page or the service worker has committed changes of these tables. */
  onChange?(tables: readonly UnsentTable[]): void;
  /** The database was deleted or closed by the browser or another page. The next transaction creates it again. */
  onLost?(): void;
};

/** Gives a table of the running transaction. */
export type TableAccess = (table: AnyTable) => IDBObjectStore;

/** Name of the database of what a person wrote, and of the channel on which its changes are announced. */
export const toUnsentName = (user: Uuid): string => `${storeNamePrefix}${user}-unsent`;

export const toPromise = <T>(request: IDBRequest<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

/**
 * Database of what a person wrote and the server does not have yet. It needs neither Dexie nor valibot, so that the
 * service worker and the script of a first view can use it as well as pages. A write is resolved once it is on the disk
 * (strict durability), and then announced to the other users of the database.
 */
export class UnsentDatabase {
  readonly #name: string;
  readonly #indexedDB: IDBFactory;
  readonly #channel: ReturnType<UnsentEnvironment["openChannel"]>;
  readonly #events: UnsentEvents;
  readonly #schema: UnsentSchema;
  #opening: Promise<IDBDatabase> | undefined;
  #isClosed = false;

  constructor(user: Uuid, environment: UnsentEnvironment, events: UnsentEvents = {}, schema = currentSchema) {
    this.#name = toUnsentName(user);
    this.#indexedDB = environment.indexedDB;
    this.#channel = environment.openChannel(this.#name);
    this.#events = events;
    this.#schema = schema;
    if (this.#channel) this.#channel.onmessage = ({ data }) => events.onChange?.(data as UnsentTable[]);
  }

  /** Runs `read` in a transaction over the tables. It may await requests of the transaction and nothing else. */
  read<T>(tables: readonly AnyTable[], read: (access: TableAccess) => Promise<T>): Promise<T> {
    return this.#transact(tables, "readonly", read);
  }

  /** As `read`, with changes. Rejects, without any change, if `write` or the commit fails. */
  async write<T>(tables: readonly AnyTable[], write: (access: TableAccess) => Promise<T>): Promise<T> {
    const result = await this.#transact(tables, "readwrite", write);
    const announced = tables.filter((table) => table !== bytesTable);
    if (!this.#isClosed && announced.length > 0) this.#channel?.postMessage(announced);
    return result;
  }

  /** Closes the database. Later transactions are rejected. */
  close(): void {
    this.#isClosed = true;
    this.#channel?.close();
    void this.#opening?.then((database) => database.close()).catch(() => undefined);
    this.#opening = undefined;
  }

  async #transact<T>(
    tables: readonly AnyTable[],
    mode: IDBTransactionMode,
    run: (access: TableAccess) => Promise<T>,
  ): Promise<T> {
    if (this.#isClosed) throw new DOMException("the database is closed", "InvalidStateError");
    const database = await this.#getDatabase();
    const transaction = database.transaction([...tables], mode, { durability: "strict" });
    const committed = new Promise<void>((resolve, reject) => {
      transaction.oncomplete = () => resolve();
      transaction.onabort = () => reject(transaction.error ?? new DOMException("aborted", "AbortError"));
    });
    committed.catch(() => undefined); // a failure of `run` is reported instead
    try {
      const result = await run((table) => transaction.objectStore(table));
      await committed;
      return result;
    } catch (error) {
      try {
        transaction.abort();
      } catch {
        // It has ended already.
      }
      throw error;
    }
  }

  /** The open database. An opening that failed is tried again by the next transaction. */
  async #getDatabase(): Promise<IDBDatabase> {
    this.#opening ??= this.#open();
    const opening = this.#opening;
    try {
      return await opening;
    } catch (error) {
      if (this.#opening === opening) this.#opening = undefined;
      throw error;
    }
  }

  async #open(): Promise<IDBDatabase> {
    // A later version, which another page has opened, has the tables of this one.
    const database = await this.#request(this.#schema.version).catch((error: unknown) => {
      if (error instanceof Error && error.name === "VersionError") return this.#request();
      throw error;
    });
    database.onversionchange = ({ newVersion }) => {
      database.close(); // else the other page would wait
      this.#opening = undefined;
      if (newVersion === null && !this.#isClosed) this.#events.onLost?.();
    };
    database.onclose = () => {
      this.#opening = undefined;
      if (!this.#isClosed) this.#events.onLost?.();
    };
    if (this.#isClosed) database.close();
    return database;
  }

  #request(version?: number): Promise<IDBDatabase> {
    const opening = this.#indexedDB.open(this.#name, version);
    opening.onupgradeneeded = () => {
      const { result: database } = opening;
      for (const [table, keyPath] of Object.entries(this.#schema.keys))
        if (!database.objectStoreNames.contains(table)) database.createObjectStore(table, { keyPath });
    };
    return toPromise(opening);
  }
}

/** Deletes the database of a person. Pages that have it open close it. */
export const deleteUnsentDatabase = async (user: Uuid, indexedDB: IDBFactory): Promise<void> => {
  await toPromise(indexedDB.deleteDatabase(toUnsentName(user)));
};
