import type { Uuid } from "../../contract/ids";
import type { Observable } from "../lib/observable";
import { type Applied, applyChanges, type Change } from "./apply";
import type { Platform } from "./platform";
import { dropFiles, isQuotaError, trimFiles, trimMessages } from "./room";
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

/** Takes in what the server said. What fails here can be had from the server again. */
export const takeIn = async (context: Context, changes: readonly Change[]): Promise<Applied> => {
  try {
    const applied = await withRoom(context, () =>
      applyChanges(context.store, context.me, changes, context.platform.now()),
    );
    if (applied.dropped.length > 0) inBackground(context, dropFiles(context.store, applied.dropped));
    if (applied.unseen.size > 0) inBackground(context, context.platform.dropPictures(applied.unseen));
    return applied;
  } catch (error) {
    if (!isQuotaError(error)) context.failed(error);
    throw error;
  }
};
