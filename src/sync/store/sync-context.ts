import type { Uuid } from "#contract/ids.ts";
import type { Observable } from "#lib/browser/observable.ts";
import type { Platform } from "#sync/platform/platform.ts";
import type { LocalStore } from "./database.ts";
import { evictCachedFiles, evictCachedMessages, isQuotaError } from "./storage-quota.ts";
import type { LinkState, StorageTrouble } from "./view-models.ts";

/** What every part of one tab's engine shares. */
export type SyncContext = {
  me: Uuid;
  platform: Platform;
  /** Two ways into the same data, see Store. */
  store: LocalStore;
  strict: LocalStore;
  link: Observable<LinkState>;
  storageTrouble: Observable<StorageTrouble | undefined>;
  /** The local data cannot be worked with as it is. */
  reportStoreFailure(error: unknown): void;
};

/** For work nobody waits for: what goes wrong in it is the store's trouble, not an unhandled rejection. */
export const runInBackground = (context: SyncContext, work: Promise<unknown>): void => {
  work.catch((error: unknown) => context.reportStoreFailure(error));
};

/** Runs a transaction; when the phone is full, makes room: first among files kept to be seen again, then among old messages. `warns`: without any, the person is told that nothing more is kept. */
export const retryOnQuotaError = async <T>(context: SyncContext, work: () => Promise<T>, warns = true): Promise<T> => {
  const { storageTrouble, store } = context;
  const done = (result: T): T => {
    if (storageTrouble.get() === "full") storageTrouble.set(undefined);
    return result;
  };
  for (const makeRoom of [() => evictCachedFiles(store, 0), () => evictCachedMessages(store)]) {
    try {
      return done(await work());
    } catch (error) {
      if (!isQuotaError(error)) throw error;
    }
    await makeRoom().catch(() => {});
  }
  try {
    return done(await work());
  } catch (error) {
    if (warns && isQuotaError(error) && storageTrouble.get() === undefined) storageTrouble.set("full");
    throw error;
  }
};
