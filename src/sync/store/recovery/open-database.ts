import Dexie from "dexie";
import type { Uuid } from "#contract/ids.ts";
import type { Platform } from "#sync/platform/platform.ts";
import { LocalStore, toStoreName } from "#sync/store/database.ts";
import { isDraftKey, listDraftFiles } from "#sync/store/pending/draft-keys.ts";
import { cursorKey } from "#sync/store/sync-cursor.ts";
import { findUploadFile } from "#sync/unsent/messages.ts";
import { deleteUnsent, purgeServerData } from "#sync/unsent/purge-unsent.ts";
import {
  deleteUnsentBackup,
  emptyUnsentSnapshot,
  isUnsentRow,
  mayHaveUnsentBackup,
  readUnsentBackup,
  readUnsentTables,
  saveUnsentBackup,
  type UnsentSnapshot,
} from "./unsent-backup.ts";
import { insertUnsentSnapshot, listReferencedFiles, readUnsentSnapshot } from "./unsent-snapshot.ts";

export type StorePair = { store: LocalStore; strict: LocalStore };
type IndexedDbEnvironment = NonNullable<Platform["indexedDb"]>;

export type OpenedStores = StorePair & {
  /**
   * Why this page works from memory, so that its data is lost when it closes: the browser stores nothing ("memory"), or
   * the database does not answer at the moment ("unreachable").
   */
  storageTrouble: "memory" | "unreachable" | undefined;
  /** The database holds no data of the server yet. */
  isNew: boolean;
};

/** The database neither answered nor failed in time. Its data may be intact and must not be deleted. */
class StoreTimeoutError extends Error {}

const openingLockMs = 2_000; // a sleeping page that holds the lock delays others only this long

/**
 * Runs `work`, whose waits for the database end after `storeTimeoutMs` in total if it passes them to `inTime`. That
 * rejects with a StoreTimeoutError.
 */
const withDeadline = async <R>(
  platform: Platform,
  work: (inTime: <T>(wait: Promise<T>) => Promise<T>) => Promise<R>,
): Promise<R> => {
  let cancel = () => {};
  const expired = new Promise<never>((_, reject) => {
    const expire = () => reject(new StoreTimeoutError("the local database does not answer"));
    cancel = platform.startTimer(platform.storeTimeoutMs, expire);
  });
  expired.catch(() => undefined); // it may expire while nothing is awaited
  try {
    return await work((wait) => Promise.race([wait, expired]));
  } finally {
    cancel();
  }
};

const withTimeout = <T>(platform: Platform, wait: Promise<T>): Promise<T> =>
  withDeadline(platform, (inTime) => inTime(wait));

export const closeStores = ({ store, strict }: StorePair): void => {
  store.close();
  strict.close();
};

/**
 * Runs `work` under a Web Lock, so that pages open the database one at a time. A page that is left while it creates the
 * database can be frozen half way, and then no page can open it. The browser ends a frozen page when another one
 * requests a lock that it holds.
 */
const withOpeningLock = async <T>(platform: Platform, name: string, work: () => Promise<T>): Promise<T> => {
  const { locks } = platform;
  if (!locks) return work();
  const timeout = new AbortController();
  const cancel = platform.startTimer(openingLockMs, () => timeout.abort());
  let isHeld = false;
  try {
    return await locks.request(`${name}-opening`, { signal: timeout.signal }, () => {
      isHeld = true;
      cancel();
      return work();
    });
  } catch (error) {
    if (isHeld) throw error;
    return work();
  } finally {
    cancel();
  }
};

/**
 * Reads the tables that the first screen needs: a damaged database may open, and one that another page is writing to
 * does not answer until that page is done. Resolves to whether it has a cursor.
 */
const checkReadable = (store: LocalStore): Promise<boolean> =>
  store.transaction("r", store.inboundTables, async () => {
    const [cursor] = await Promise.all([store.meta.get(cursorKey), store.conversations.limit(1).toArray()]);
    return cursor !== undefined;
  });

const openStorePair = async (
  platform: Platform,
  name: string,
  environment: Partial<IndexedDbEnvironment>,
): Promise<StorePair & { hasCursor: boolean }> => {
  const stores = {
    store: new LocalStore(name, "relaxed", environment),
    strict: new LocalStore(name, "strict", environment),
  };
  const open = () => Promise.all([stores.store.open(), stores.strict.open()]);
  try {
    return await withDeadline(platform, async (inTime) => {
      await withOpeningLock(platform, name, () => inTime(open()));
      return { ...stores, hasCursor: await inTime(checkReadable(stores.store)) };
    });
  } catch (error) {
    closeStores(stores);
    throw error;
  }
};

/**
 * Reads unsent content from a database that this version cannot use. Missing tables count as empty, and rows that do
 * not match their schema are dropped.
 */
const salvageUnsent = async (platform: Platform, name: string): Promise<UnsentSnapshot> => {
  const database = new Dexie(name, { ...platform.indexedDb, autoOpen: false });
  try {
    await withTimeout(platform, database.open());
    const unsent = await readUnsentTables(async (table) => {
      if (!database.tables.some((other) => other.name === table)) return [];
      const rows = database.table(table).toArray();
      return (await rows.catch(() => [])).filter((row) => isUnsentRow(table, row));
    });
    const referenced = new Set(listReferencedFiles(unsent));
    return { ...unsent, blobs: unsent.blobs.filter(({ file }) => referenced.has(file)) };
  } catch (error) {
    if (error instanceof StoreTimeoutError) throw error;
    return emptyUnsentSnapshot; // unreadable
  } finally {
    database.close();
  }
};

/**
 * Rebuilds the database and keeps unsent content; everything else is fetched from the server again. A database that is
 * only stuck stays as it is, and this page works from memory.
 */
const rebuildStores = async (platform: Platform, me: Uuid): Promise<OpenedStores> => {
  const name = toStoreName(me);
  let unsent = emptyUnsentSnapshot;
  try {
    unsent = await salvageUnsent(platform, name);
    await saveUnsentBackup(platform, name, unsent);
    await withTimeout(platform, new Dexie(name, { ...platform.indexedDb, autoOpen: false }).delete());
    const stores = await openStorePair(platform, name, platform.indexedDb ?? {});
    await restoreUnsentBackup(stores, platform, me);
    return { ...stores, storageTrouble: undefined, isNew: true };
  } catch (error) {
    return openInMemory(platform, me, unsent, error instanceof StoreTimeoutError ? "unreachable" : "memory");
  }
};

/** Restores the backup of unsent content, written by this page or by one that ended before it could restore it. */
const restoreUnsentBackup = async (stores: StorePair, platform: Platform, me: Uuid): Promise<void> => {
  await insertUnsentSnapshot(stores, await readUnsentBackup(platform, toStoreName(me)));
  await deleteUnsentBackup(platform, toStoreName(me));
};

const openInMemory = async (
  platform: Platform,
  me: Uuid,
  unsent: UnsentSnapshot,
  storageTrouble: "memory" | "unreachable",
): Promise<OpenedStores> => {
  const environment = await platform.loadMemoryIndexedDb();
  // Dexie's live queries do nothing while Dexie believes that there is no IndexedDB.
  Dexie.dependencies.indexedDB ??= environment.indexedDB;
  // The memory database belongs to this page alone: no lock is needed.
  const stores = await openStorePair({ ...platform, locks: undefined }, toStoreName(me), environment);
  await insertUnsentSnapshot(stores, unsent);
  return { ...stores, storageTrouble, isNew: true };
};

/** Opens the database on disk, with the unsent content of one that was being rebuilt. Rejects if that fails. */
export const openOnDisk = async (platform: Platform, me: Uuid): Promise<OpenedStores> => {
  const name = toStoreName(me);
  const { hasCursor, ...stores } = await openStorePair(platform, name, platform.indexedDb ?? {});
  const restoreBackup = async () => {
    if (await mayHaveUnsentBackup(platform, name)) await restoreUnsentBackup(stores, platform, me);
  };
  try {
    if (!hasCursor) await withTimeout(platform, restoreBackup());
    return { ...stores, storageTrouble: undefined, isNew: !hasCursor };
  } catch (error) {
    closeStores(stores);
    throw error;
  }
};

/**
 * Opens a person's database: within `storeTimeoutMs` that on disk, otherwise one in memory. `isSuspect`: it opened before
 * but failed in use, and is rebuilt.
 */
export const openStores = async (platform: Platform, me: Uuid, isSuspect: boolean): Promise<OpenedStores> => {
  if (isSuspect) return rebuildStores(platform, me);
  try {
    return await openOnDisk(platform, me);
  } catch (error) {
    if (error instanceof StoreTimeoutError) return openInMemory(platform, me, emptyUnsentSnapshot, "unreachable");
    return rebuildStores(platform, me);
  }
};

/** Copies the unsent content of one database into another. Rejects if that does not succeed within `storeTimeoutMs`. */
export const insertInTime = (platform: Platform, from: StorePair, to: StorePair): Promise<void> =>
  withTimeout(
    platform,
    readUnsentSnapshot(from).then((unsent) => insertUnsentSnapshot(to, unsent)),
  );

/** Deletes all data of a person on this device, after a sign-out. */
export const deleteAllStores = async (platform: Platform, me: Uuid): Promise<void> => {
  await deleteStore(platform, toStoreName(me));
  await deleteUnsent(platform, me);
};

const deleteStore = async (platform: Platform, name: string): Promise<void> => {
  await new Dexie(name, { ...platform.indexedDb, autoOpen: false }).delete();
  await deleteUnsentBackup(platform, name);
};

/**
 * Deletes everything but unsent content after its person ended the session from elsewhere. Kept are unsent messages and
 * posts with their files, drafts, interrupted recordings and operations.
 */
export const purgeAllButUnsent = async (platform: Platform, me: Uuid): Promise<void> => {
  const { store, strict } = await openStorePair(platform, toStoreName(me), platform.indexedDb ?? {});
  const files = (await purgeServerData(platform, me)).flatMap((row) => findUploadFile(row) ?? []);
  const posts = await store.postbox.toCollection().primaryKeys();
  const meta = await store.queryDrafts().toArray();
  const isWorthKeeping = files.length + posts.length + meta.length + (await store.recordings.count()) > 0;
  // Journal entries of texts and drafts stay: the database may not have them yet.
  platform.localStorage?.removeItem(`${toStoreName(me)}-settings`);
  if (isWorthKeeping) {
    const serverTables = [store.people, store.conversations, store.messages, store.members, store.posts];
    const referenced = [...files, ...listDraftFiles(meta), ...posts];
    await store.transaction("rw", [...serverTables, store.meta, store.files, store.blobs], async () => {
      await Promise.all(serverTables.map((table) => table.clear()));
      await Promise.all([store.files, store.blobs].map((table) => table.where("file").noneOf(referenced).delete()));
      await store.meta.filter(({ key }) => !isDraftKey(key)).delete();
    });
  }
  closeStores({ store, strict });
  if (!isWorthKeeping) await deleteStore(platform, toStoreName(me));
};
