import type { Uuid } from "#contract/ids.ts";
import type { Observable } from "#lib/browser/observable.ts";
import type { Platform } from "#sync/platform/platform.ts";
import type { Store } from "./database.ts";
import { isQuotaError, trimFiles, trimMessages } from "./storage-quota.ts";
import type { LinkState, StorageTrouble } from "./views.ts";

/** What every part of one tab's engine shares. */
export type Context = {
  me: Uuid;
  platform: Platform;
  /** Two ways into the same data, see Store. */
  store: Store;
  strict: Store;
  link: Observable<LinkState>;
  trouble: Observable<StorageTrouble | undefined>;
  /** The local data cannot be worked with as it is. */
  failed(error: unknown): void;
};

/** For work nobody waits for: what goes wrong in it is the store's trouble, not an unhandled rejection. */
export const inBackground = (context: Context, work: Promise<unknown>): void => {
  work.catch((error: unknown) => context.failed(error));
};

/** Runs a transaction; when the phone is full, makes room: first among files kept to be seen again, then among old messages. `warns`: without any, the person is told that nothing more is kept. */
export const withRoom = async <T>(context: Context, work: () => Promise<T>, warns = true): Promise<T> => {
  const { trouble, store } = context;
  const done = (result: T): T => {
    if (trouble.get() === "full") trouble.set(undefined);
    return result;
  };
  for (const makeRoom of [() => trimFiles(store, 0), () => trimMessages(store)]) {
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
    if (warns && isQuotaError(error) && trouble.get() === undefined) trouble.set("full");
    throw error;
  }
};
