import { useMemo, useSyncExternalStore } from "react";
import { currentEngine, liveQueries, type SyncEngine } from "#sync/engine/engine.ts";
import type { QueryContext } from "#sync/queries/live-queries.ts";
import type { StorageTrouble } from "#sync/store/view-models.ts";

// Hooks of this folder that are made with `useLiveQuery` read the local store only. They return undefined until their
// first read; a list also while it is empty and the server has not sent all of it yet.

/** External store without a value. */
export const emptySource = { get: () => undefined, subscribe: () => () => {} };

/** Current sync engine; undefined while none runs. */
export const useEngine = (): SyncEngine | undefined =>
  useSyncExternalStore(currentEngine.subscribe, currentEngine.get, () => undefined);

/**
 * Runs a query of the local store and returns its latest result. `key` identifies the query and its parameters; an
 * undefined key runs none. `keepsAlive`: the query stays active for a moment after its last screen.
 */
export const useLiveQuery = <T>(
  key: string | undefined,
  query: (context: QueryContext) => Promise<T>,
  keepsAlive = true,
): T | undefined => {
  const queries = useSyncExternalStore(liveQueries.subscribe, liveQueries.get, () => undefined);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key stands for the query, which each render makes anew
  const live = useMemo(
    () => (queries && key ? queries.openQuery(key, query, keepsAlive) : emptySource),
    [queries, key],
  );
  return useSyncExternalStore<T | undefined>(live.subscribe, live.get, () => undefined);
};

/** Trouble with the local storage; undefined if there is none. */
export const useStorageTrouble = (): StorageTrouble | undefined => {
  const engine = useEngine();
  const trouble = engine?.client.storageTrouble ?? emptySource;
  return useSyncExternalStore<StorageTrouble | undefined>(trouble.subscribe, trouble.get, () => undefined);
};

/**
 * Calls the listener with the result of a query, now and whenever it changes, also after another person signs in.
 * Returns the unsubscribe function.
 */
export const subscribeQuery = <T>(
  key: string,
  read: (context: QueryContext) => Promise<T | undefined>,
  listener: (result: T) => void,
): (() => void) => {
  let leave = () => {};
  const follow = () => {
    leave();
    const live = liveQueries.get()?.openQuery(key, read, false);
    if (!live) return;
    const notify = () => {
      const result = live.get();
      if (result) listener(result);
    };
    leave = live.subscribe(notify);
    notify();
  };
  const unsubscribe = liveQueries.subscribe(follow);
  follow();
  return () => {
    unsubscribe();
    leave();
  };
};
