import Dexie from "dexie";
import type { Uuid } from "#contract/ids.ts";
import type { Platform } from "#sync/platform/platform.ts";
import { deleteUnsent, purgeServerData } from "#sync/unsent/purge-unsent.ts";
import { LocalStore, toStoreName } from "./database.ts";
import { cursorKey } from "./sync-cursor.ts";

type IndexedDbEnvironment = NonNullable<Platform["indexedDb"]>;

export type OpenedStore = {
  store: LocalStore;
  /** Why this page works from memory: the browser stores nothing ("memory"), or the database does not answer. */
  storageTrouble: "memory" | "unreachable" | undefined;
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
 * does not answer until that page is done.
 */
const checkReadable = (store: LocalStore): Promise<unknown> =>
  store.transaction("r", store.inboundTables, () =>
    Promise.all([store.meta.get(cursorKey), store.conversations.limit(1).toArray()]),
  );

const openDatabase = async (
  platform: Platform,
  name: string,
  environment: Partial<IndexedDbEnvironment>,
): Promise<LocalStore> => {
  const store = new LocalStore(name, environment);
  try {
    await withDeadline(platform, async (inTime) => {
      await withOpeningLock(platform, name, () => inTime(store.open()));
      await inTime(checkReadable(store));
    });
    return store;
  } catch (error) {
    store.close();
    throw error;
  }
};

/** Opens the database on disk. Rejects if that fails. */
export const openOnDisk = async (platform: Platform, me: Uuid): Promise<OpenedStore> => ({
  store: await openDatabase(platform, toStoreName(me), platform.indexedDb ?? {}),
  storageTrouble: undefined,
});

const deleteDatabase = (platform: Platform, me: Uuid): Promise<void> =>
  new Dexie(toStoreName(me), { ...platform.indexedDb, autoOpen: false }).delete();

/**
 * Deletes the database and creates it again; its content is fetched from the server. One that is only stuck stays as it
 * is, and this page works from memory.
 */
const rebuildDatabase = async (platform: Platform, me: Uuid): Promise<OpenedStore> => {
  try {
    await withDeadline(platform, (inTime) => inTime(deleteDatabase(platform, me)));
    return await openOnDisk(platform, me);
  } catch (error) {
    return openInMemory(platform, me, error instanceof StoreTimeoutError ? "unreachable" : "memory");
  }
};

const openInMemory = async (
  platform: Platform,
  me: Uuid,
  storageTrouble: "memory" | "unreachable",
): Promise<OpenedStore> => {
  const environment = await platform.loadMemoryIndexedDb();
  // Dexie's live queries do nothing while Dexie believes that there is no IndexedDB.
  Dexie.dependencies.indexedDB ??= environment.indexedDB;
  // The memory database belongs to this page alone: no lock is needed.
  const store = await openDatabase({ ...platform, locks: undefined }, toStoreName(me), environment);
  return { store, storageTrouble };
};

/**
 * Opens the cache of a person: within `storeTimeoutMs` that on disk, otherwise one in memory. `isSuspect`: it opened
 * before but failed in use, and is rebuilt.
 */
export const openCache = async (platform: Platform, me: Uuid, isSuspect: boolean): Promise<OpenedStore> => {
  if (isSuspect) return rebuildDatabase(platform, me);
  try {
    return await openOnDisk(platform, me);
  } catch (error) {
    if (error instanceof StoreTimeoutError) return openInMemory(platform, me, "unreachable");
    return rebuildDatabase(platform, me);
  }
};

type StoreLossEvents = {
  onClosed(): void;
  /** Another page wants to delete or upgrade the database. Returning false leaves closing it to this page. */
  onVersionChange(newVersion: number | null): false | undefined;
};

/** Observes the browser and other pages, which may close or delete the database while this page uses it. */
export const watchCache = (store: LocalStore, { onClosed, onVersionChange }: StoreLossEvents): void => {
  store.on("close", onClosed);
  store.on("versionchange", ({ newVersion }) => onVersionChange(newVersion));
};

/**
 * Whether the database was closed from outside, by a tab that deletes it or a browser that frees memory. Its data is
 * not at fault.
 */
export const isDatabaseClosedError = (error: unknown): boolean =>
  error instanceof Error && error.name === "DatabaseClosedError";

/** Whether the browser cannot store a value of this kind, such as a Blob. The database is not at fault. */
export const isRefusedValueError = (error: unknown): boolean =>
  error instanceof Error && error.name === "DataCloneError";

/** Deletes all data of a person on this device, after a sign-out. */
export const deleteAllData = async (platform: Platform, me: Uuid): Promise<void> => {
  await deleteDatabase(platform, me);
  await deleteUnsent(platform, me);
};

/** Deletes everything but unsent data after its person ended the session from elsewhere. */
export const deleteAllButUnsent = async (platform: Platform, me: Uuid): Promise<void> => {
  await deleteDatabase(platform, me);
  await purgeServerData(platform, me);
  platform.localStorage?.removeItem(`${toStoreName(me)}-settings`);
};
