import type { Uuid } from "#contract/ids.ts";
import {
  bytesTable,
  type TableAccess,
  toPromise,
  type UnsentDatabase,
  type UnsentTable,
  unsentKeys,
} from "#lib/unsent/unsent-database.ts";
import { isQuotaError, limitTime } from "#sync/platform/database-errors.ts";
import type { Platform } from "#sync/platform/platform.ts";

type StoredBytes = Blob | ArrayBuffer;
type BytesRow = { id: Uuid; bytes: StoredBytes };

const bytesPerMs = 1_000; // a slow device writes 1 MB in a second

type Environment = {
  /** Whether the database has answered last. */
  isAvailable(): boolean;
  /** Calls `flush` later. */
  scheduleRetry(): void;
  platform: Pick<Platform, "startTimer" | "storeTimeoutMs">;
  /** Runs work; without room on the device it frees some and runs it again. */
  makeRoom<T>(work: () => Promise<T>): Promise<T>;
};

/**
 * Bytes of files, of chunks of recordings and of pictures that the server does not have. They are written before the rows
 * that name them. `UnsentStore` deletes them once no row names them any more; what a crash leaves between the two is
 * deleted later (`deleteOrphans`). A page whose database does not answer holds them in memory until it does.
 */
export class UnsentBytes {
  readonly #database: UnsentDatabase | undefined;
  readonly #environment: Environment;
  readonly #inMemory = new Map<Uuid, Blob>();

  /** `database` is undefined where the browser has none. */
  constructor(database: UnsentDatabase | undefined, environment: Environment) {
    this.#database = database;
    this.#environment = environment;
  }

  /** Stores bytes under an id of their own. Rejects only if the device has no room for them. */
  async put(id: Uuid, blob: Blob): Promise<void> {
    if (!this.#environment.isAvailable()) return void this.#inMemory.set(id, blob);
    try {
      await this.#environment.makeRoom(() => this.#write(id, blob));
    } catch (error) {
      if (isQuotaError(error)) throw error;
      this.#inMemory.set(id, blob);
      this.#environment.scheduleRetry();
    }
  }

  /** Bytes as a Blob, with the type it was stored with if the database takes Blobs. */
  async get(id: Uuid): Promise<Blob | undefined> {
    const held = this.#inMemory.get(id);
    if (held || !this.#database) return held;
    const read = (access: TableAccess): Promise<BytesRow | undefined> => toPromise(access(bytesTable).get(id));
    const row = await this.#inTime(this.#database.read([bytesTable], read));
    if (!row) return undefined;
    return row.bytes instanceof ArrayBuffer ? new Blob([row.bytes]) : row.bytes;
  }

  /** Ids whose bytes are on this device, among the given ones. */
  async listStored(ids: readonly Uuid[]): Promise<Set<Uuid>> {
    const held = ids.filter((id) => this.#inMemory.has(id));
    if (!this.#database || ids.length === held.length) return new Set(held);
    const read = (access: TableAccess) => Promise.all(ids.map((id) => toPromise(access(bytesTable).getKey(id))));
    const stored = await this.#inTime(this.#database.read([bytesTable], read));
    return new Set([...held, ...ids.filter((_, index) => stored[index] !== undefined)]);
  }

  async delete(ids: readonly Uuid[]): Promise<void> {
    for (const id of ids) this.#inMemory.delete(id);
    if (ids.length === 0 || !this.#database) return;
    const remove = (access: TableAccess) => Promise.all(ids.map((id) => toPromise(access(bytesTable).delete(id))));
    await this.#inTime(this.#database.write([bytesTable], remove));
  }

  /**
   * Deletes bytes from before this time that no row names, because their page ended before it wrote the row. Ids are
   * ordered by time. Rows that this version cannot read count.
   */
  async deleteOrphans(before: number): Promise<void> {
    if (!this.#database) return;
    const listOld = async (access: TableAccess): Promise<Uuid[]> => {
      const ids = (await toPromise(access(bytesTable).getAllKeys())) as Uuid[];
      return ids.filter((id) => Number.parseInt(id.replace("-", "").slice(0, 12), 16) < before);
    };
    if ((await this.#inTime(this.#database.read([bytesTable], listOld))).length === 0) return;
    const tables = Object.keys(unsentKeys) as UnsentTable[];
    const deleteUnnamed = async (access: TableAccess) => {
      const rows = await Promise.all(tables.map((table) => toPromise(access(table).getAll())));
      const named = JSON.stringify(rows);
      const orphans = (await listOld(access)).filter((id) => !named.includes(id));
      await Promise.all(orphans.map((id) => toPromise(access(bytesTable).delete(id))));
    };
    await this.#inTime(this.#database.write([bytesTable, ...tables], deleteUnnamed));
  }

  /** Writes what is in memory into the database, which answers again. What does not fit stays in memory. */
  async flush(): Promise<void> {
    for (const [id, blob] of this.#inMemory) {
      try {
        await this.#write(id, blob);
        this.#inMemory.delete(id);
      } catch (error) {
        if (!isQuotaError(error)) return this.#environment.scheduleRetry();
      }
    }
  }

  async #write(id: Uuid, blob: Blob): Promise<void> {
    const store = (bytes: StoredBytes) => this.#inTime(this.#store({ id, bytes }), blob.size / bytesPerMs);
    // IndexedDB refuses Blobs in Safari's private windows. Everywhere else it writes them some ten times faster than an
    // ArrayBuffer, and reads them without loading the whole file.
    await store(blob).catch(async (error: unknown) => {
      if (isQuotaError(error) || isTimeout(error)) throw error;
      await store(await blob.arrayBuffer());
    });
  }

  /** Rejects work that takes longer than the database may, plus `extraMs`. */
  #inTime<T>(work: Promise<T>, extraMs = 0): Promise<T> {
    const { platform } = this.#environment;
    return limitTime(platform, work, platform.storeTimeoutMs + extraMs);
  }

  async #store(row: BytesRow): Promise<void> {
    if (!this.#database) throw new DOMException("this browser has no database", "InvalidStateError");
    await this.#database.write([bytesTable], (access) => toPromise(access(bytesTable).put(row)));
  }
}

const isTimeout = (error: unknown): boolean => error instanceof Error && error.name === "TimeoutError";
