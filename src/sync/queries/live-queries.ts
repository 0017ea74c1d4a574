import { liveQuery } from "dexie";
import { Observable } from "#lib/browser/observable.ts";
import { getServerNow } from "#lib/browser/time/clock.ts";
import { retryDelayMs } from "#lib/http/backoff.ts";
import type { SyncContext } from "#sync/store/sync-context.ts";

/**
 * Structural sharing: the new value with all parts that are equal taken from the old one, so that unchanged parts are
 * not rendered again.
 */
export const shareStructure = <T>(before: unknown, after: T): T => {
  if (Object.is(before, after)) return after;
  if (typeof before !== "object" || typeof after !== "object" || !before || !after) return after;
  if (Array.isArray(after)) {
    if (!Array.isArray(before)) return after;
    const shared = indexByKey(before);
    const merged = after.map((part: unknown, index) =>
      shareStructure(shared?.get(findItemKey(part)) ?? before[index], part),
    );
    const isSame = merged.length === before.length && merged.every((part, index) => part === before[index]);
    return (isSame ? before : merged) as T;
  }
  if (Array.isArray(before)) return after;
  const entries = Object.entries(after);
  const merged = entries.map(([key, part]) => [key, shareStructure((before as Record<string, unknown>)[key], part)]);
  const isSame =
    entries.length === Object.keys(before).length &&
    merged.every(([key, part]) => Object.is((before as Record<string, unknown>)[key as string], part));
  return (isSame ? before : Object.fromEntries(merged)) as T;
};

const findItemKey = (part: unknown): unknown => {
  if (typeof part !== "object" || part === null) return undefined;
  return "key" in part ? part.key : "id" in part ? part.id : undefined;
};

/** List items by key: a new item at the front must not make all others look changed. */
const indexByKey = (list: readonly unknown[]): Map<unknown, unknown> | undefined =>
  findItemKey(list[0]) === undefined ? undefined : new Map(list.map((part) => [findItemKey(part), part]));

/** Clock of a query. `refreshAt`: a live query is run again at this time, although the database does not change. */
export type QueryClock = { now(): number; refreshAt(time: number): void };

/** Clock of a query that is run once. */
export const singleQueryClock: QueryClock = { now: getServerNow, refreshAt: () => {} };

export type QueryContext = SyncContext & { clock: QueryClock };

/** Key that stands for a query and its parameters, and the query. Screens with the same key share a result. */
export type StoreQuery<T> = readonly [key: string | undefined, read: (context: QueryContext) => Promise<T>];

/** Latest result of a query, undefined until there is one. It is read while there are subscribers. */
export type LiveQuery<T> = { get(): T | undefined; subscribe(listener: () => void): () => void };

/** Live query that can be held: results then come from `LiveQueries.preload`. */
type HoldableQuery<T> = LiveQuery<T> & {
  run(): Promise<T>;
  setResult(result: T): void;
  hold(): void;
  /** Follows the store by itself again. A query without subscribers ends. */
  release(): void;
};

const timerMaxMs = 2 ** 31 - 1;
const preloadTimeoutMs = 3_000;
const keepAliveMs = 5_000; // returning to a screen within this time shows it without a flash

/**
 * Live queries, each shared by all its subscribers. Dexie reports writes of every tab, so a message stored in one tab
 * appears in the others without a message between them. A query that reads unsent data runs again when that changes.
 */
export class LiveQueries {
  readonly #context: SyncContext;
  readonly #queries = new Map<string, HoldableQuery<unknown>>();

  constructor(context: SyncContext) {
    this.#context = context;
  }

  /** `lingers`: the query stays active for a moment after its last subscriber has left. */
  openQuery<T>(key: string, query: (context: QueryContext) => Promise<T>, lingers = true): LiveQuery<T> {
    return this.#open(key, query, lingers);
  }

  /**
   * Reads queries in one transaction instead of one each, and keeps them up to date together until the promise of
   * `waitForEnd`, which is called after the first results; then each follows the store by itself. Resolves once they
   * have results. If reading fails or takes longer than `preloadTimeoutMs`, each is read by itself.
   */
  preload(queries: readonly StoreQuery<unknown>[], waitForEnd: () => Promise<void>): Promise<void> {
    const { store, platform } = this.#context;
    const held = queries.flatMap(([key, query]) => (key === undefined ? [] : this.#open(key, query, true)));
    for (const query of held) query.hold();
    const runAll = () =>
      store.transaction("r", store.inboundTables, () => Promise.all(held.map((query) => query.run())));
    return new Promise((resolve) => {
      let [isReady, isOver] = [false, false];
      const end = () => {
        if (isOver) return;
        isOver = true;
        subscription.unsubscribe();
        cancelTimeout();
        for (const query of held) query.release();
        resolve();
      };
      const cancelTimeout = platform.startTimer(preloadTimeoutMs, end);
      const subscription = liveQuery(runAll).subscribe({
        next: (results) => {
          cancelTimeout();
          for (const [index, result] of results.entries()) held[index]?.setResult(result);
          if (!isReady) void waitForEnd().then(end);
          isReady = true;
          resolve();
        },
        error: end,
      });
    });
  }

  #open<T>(key: string, query: (context: QueryContext) => Promise<T>, lingers: boolean): HoldableQuery<T> {
    const shared = this.#queries.get(key);
    if (shared) return shared as HoldableQuery<T>;
    const live = this.#create(key, query, lingers ? keepAliveMs : 0);
    this.#queries.set(key, live);
    return live;
  }

  #create<T>(key: string, query: (context: QueryContext) => Promise<T>, keepMs: number): HoldableQuery<T> {
    const context = this.#context;
    const value = new Observable<T | undefined>(undefined);
    let subscriberCount = 0;
    let cancelEnd = () => {};
    let cancelRetry = () => {};
    let failures = 0;
    let subscription: { unsubscribe(): void } | undefined;
    let cancelRefresh = () => {};
    let isHeld = false;
    /** Whether the last run read unsent data, so that a change of it concerns the query. */
    let readsUnsent = false;
    let stopFollowingUnsent: (() => void) | undefined;
    const runQuery = () => {
      cancelRefresh();
      let nextAt = Number.POSITIVE_INFINITY;
      const refreshAt = (time: number) => {
        if (time >= nextAt) return;
        nextAt = time;
        cancelRefresh();
        cancelRefresh = context.platform.startTimer(Math.min(timerMaxMs, time - getServerNow()), restart);
      };
      readsUnsent = false;
      return query({
        ...context,
        clock: { now: getServerNow, refreshAt },
        get unsent() {
          readsUnsent = true;
          return context.unsent;
        },
      });
    };
    const handleUnsentChange = () => {
      if (readsUnsent && subscription) restart();
    };
    const restart = () => {
      subscription?.unsubscribe();
      subscription = undefined;
      read();
    };
    const setResult = (result: T) => value.set(shareStructure(value.get(), result));
    const read = () => {
      cancelRetry();
      if (isHeld) return;
      stopFollowingUnsent ??= context.unsent.state.subscribe(handleUnsentChange);
      subscription ??= liveQuery(runQuery).subscribe({
        next: (result) => {
          failures = 0;
          setResult(result);
        },
        error: (error: unknown) => {
          console.warn("reading the local database failed", error);
          subscription?.unsubscribe();
          subscription = undefined;
          // A query that failed before its first result is not notified of changes: it is subscribed again.
          cancelRetry = context.platform.startTimer(retryDelayMs(failures++), read);
        },
      });
    };
    const end = () => {
      cancelRetry();
      cancelRefresh();
      subscription?.unsubscribe();
      subscription = undefined;
      stopFollowingUnsent?.();
      stopFollowingUnsent = undefined;
      this.#queries.delete(key);
    };
    const live: HoldableQuery<T> = {
      run: runQuery,
      setResult,
      hold() {
        isHeld = true;
      },
      release() {
        isHeld = false;
        if (subscriberCount > 0) read();
        else end();
      },
      get: value.get,
      subscribe: (listener) => {
        subscriberCount++;
        this.#queries.set(key, live);
        cancelEnd();
        read();
        const unsubscribe = value.subscribe(listener);
        return () => {
          unsubscribe();
          subscriberCount--;
          if (subscriberCount === 0)
            cancelEnd = context.platform.startTimer(keepMs, () => {
              if (subscriberCount === 0) end();
            });
        };
      },
    };
    return live;
  }
}
