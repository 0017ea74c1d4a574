import type { Uuid } from "../../contract/ids";
import type { Observable } from "../lib/observable";
import { type Applied, applyChanges, type Change } from "./apply";
import type { Platform } from "./platform";
import { isQuotaError, trimMessages } from "./room";
import type { Store } from "./store";
import type { LinkState, StorageTrouble } from "./views";

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

/** Runs a transaction; when the phone is full, makes room in the cache of old messages and tries once more. */
export const withRoom = async <T>(context: Context, work: () => Promise<T>): Promise<T> => {
  const { trouble, store } = context;
  const done = (result: T): T => {
    if (trouble.get() === "full") trouble.set(undefined);
    return result;
  };
  try {
    return done(await work());
  } catch (error) {
    if (!isQuotaError(error)) throw error;
  }
  try {
    await trimMessages(store);
    return done(await work());
  } catch (error) {
    if (isQuotaError(error) && trouble.get() === undefined) trouble.set("full");
    throw error;
  }
};

/** Takes in what the server said. What fails here can be had from the server again. */
export const takeIn = async (context: Context, changes: readonly Change[]): Promise<Applied> => {
  try {
    return await withRoom(context, () => applyChanges(context.store, context.me, changes));
  } catch (error) {
    if (!isQuotaError(error)) context.failed(error);
    throw error;
  }
};
