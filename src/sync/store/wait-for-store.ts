import { liveQuery } from "dexie";
import type { LocalStore } from "./database.ts";
import type { SyncPort } from "./sync-port.ts";

export type StoreWatch = {
  /** Resolves to true once the condition holds, to false if the watch was stopped before. */
  result: Promise<boolean>;
  /** Ends the watch after a last read, since a suspended page may have missed the change. */
  stop(): void;
};

/**
 * Watches the local store until `isDone` holds, also in a store that is reopened meanwhile. `isDone` is evaluated again
 * whenever rows it read change. A store that cannot be read counts as not done.
 */
export const watchStore = (
  { context }: Pick<SyncPort, "context">,
  isDone: (store: LocalStore) => Promise<boolean>,
): StoreWatch => {
  let end: (result: boolean) => void = () => {};
  let subscription: { unsubscribe(): void } | undefined;
  const check = async (): Promise<boolean> => {
    const store = context.get()?.store;
    return store !== undefined && (await isDone(store).catch(() => false));
  };
  const follow = () => {
    subscription?.unsubscribe();
    subscription = liveQuery(check).subscribe((isNowDone) => {
      if (isNowDone) end(true);
    });
  };
  const unsubscribe = context.subscribe(follow);
  const result = new Promise<boolean>((resolve) => {
    end = (value) => {
      unsubscribe();
      subscription?.unsubscribe();
      resolve(value);
    };
  });
  follow();
  return { result, stop: () => void check().then(end) };
};

/** Resolves to true once `isDone` holds for the local store, or to false after `timeoutMs`. */
export const waitForStore = async (
  port: Pick<SyncPort, "context" | "platform">,
  isDone: (store: LocalStore) => Promise<boolean>,
  timeoutMs: number,
): Promise<boolean> => {
  const watch = watchStore(port, isDone);
  const cancel = port.platform.startTimer(timeoutMs, watch.stop);
  try {
    return await watch.result;
  } finally {
    cancel();
  }
};
