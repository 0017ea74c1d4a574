import type { Uuid } from "#contract/ids.ts";
import type { Observable } from "#lib/browser/observable.ts";
import { isQuotaError } from "#sync/platform/database-errors.ts";
import type { Platform } from "#sync/platform/platform.ts";
import type { UnsentChange } from "#sync/unsent/unsent-state.ts";
import type { UnsentStore } from "#sync/unsent/unsent-store.ts";
import type { LocalStore } from "./database.ts";
import { evictCachedFiles, evictCachedMessages } from "./storage-quota.ts";
import type { LinkState, StorageTrouble } from "./view-models.ts";

/** Dependencies shared by all parts of one tab's sync engine. */
export type SyncContext = {
  me: Uuid;
  platform: Platform;
  /** Cache of what the server has. */
  store: LocalStore;
  /** Unsent data of the person. */
  unsent: UnsentStore;
  link: Observable<LinkState>;
  storageTrouble: Observable<StorageTrouble | undefined>;
  /** Reports that the local database cannot be used as it is; the tab then reopens or rebuilds it. */
  reportStoreFailure(error: unknown): void;
};

/**
 * Commits changes of unsent data. Without room on the device they stay in memory and are tried again, and the person is
 * told. Does not reject.
 */
export const commitUnsent = async (
  { unsent, storageTrouble }: Pick<SyncContext, "unsent" | "storageTrouble">,
  changes: readonly UnsentChange[],
): Promise<void> => {
  try {
    await unsent.changeAll(changes);
  } catch (error) {
    reportUnsentFailure({ storageTrouble }, error);
  }
};

/** Tells the person if unsent data could not be committed for want of room. */
export const reportUnsentFailure = ({ storageTrouble }: Pick<SyncContext, "storageTrouble">, error: unknown): void => {
  if (isQuotaError(error) && storageTrouble.get() === undefined) storageTrouble.set("full");
};

/** Runs work that nobody awaits. A rejection is reported as a store failure instead of an unhandled rejection. */
export const runInBackground = (context: SyncContext, work: Promise<unknown>): void => {
  work.catch((error: unknown) => context.reportStoreFailure(error));
};

/**
 * Runs a transaction. On a quota error it frees space and tries again: first it evicts cached files, then old messages.
 * With `warns`, a final failure sets `storageTrouble` to "full", which the person sees.
 */
export const retryOnQuotaError = async <T>(context: SyncContext, work: () => Promise<T>, warns = true): Promise<T> => {
  const { storageTrouble, store, unsent } = context;
  const succeed = (result: T): T => {
    if (storageTrouble.get() === "full") storageTrouble.set(undefined);
    return result;
  };
  for (const freeSpace of [() => evictCachedFiles({ store, unsent }, 0), () => evictCachedMessages(store)]) {
    try {
      return succeed(await work());
    } catch (error) {
      if (!isQuotaError(error)) throw error;
    }
    await freeSpace().catch(() => {});
  }
  try {
    return succeed(await work());
  } catch (error) {
    if (warns && isQuotaError(error) && storageTrouble.get() === undefined) storageTrouble.set("full");
    throw error;
  }
};
