import type { Language } from "#contract/language.ts";

/**
 * Snapshots of the list and of the last opened chat, saved by the app when it is left
 * (`src/app/opening/first-view-snapshot.ts`) and inserted into the app's page by the service worker.
 */
const firstViewCacheName = "first-views";

export type FirstViewSnapshot = {
  user: string;
  /** When the server last confirmed the session, epoch milliseconds of this device's clock. */
  confirmedAt: number;
  language: Language;
  view: string;
  conversation?: string | undefined;
  day: string;
};

/**
 * Runs work on the snapshots while no other page does: one that has read what is being deleted must not save it after
 * the deletion.
 */
const withFirstViewLock = <T>(work: () => Promise<T>): Promise<T> =>
  "locks" in navigator ? navigator.locks.request(firstViewCacheName, work) : work();

/** Saves the snapshots that `read` draws, by path, and deletes all others; nothing if it returns undefined. */
export const saveFirstViews = (
  read: () => Promise<ReadonlyMap<string, FirstViewSnapshot> | undefined>,
): Promise<void> =>
  withFirstViewLock(async () => {
    const snapshots = "caches" in globalThis ? await read() : undefined;
    if (!snapshots) return;
    const cache = await caches.open(firstViewCacheName);
    for (const request of await cache.keys())
      if (!snapshots.has(new URL(request.url).pathname)) await cache.delete(request);
    for (const [path, snapshot] of snapshots) await cache.put(path, Response.json(snapshot));
  });

/** Reads the snapshot of a path; undefined if there is none or the browser has no cache. */
export const readFirstView = async (path: string): Promise<FirstViewSnapshot | undefined> => {
  try {
    const found = await (await caches.open(firstViewCacheName)).match(path);
    return found && ((await found.json()) as FirstViewSnapshot);
  } catch {
    return undefined;
  }
};

let handleDeletion = () => {};

/** Calls `listener` after this page has deleted the snapshots. */
export const onFirstViewsDeleted = (listener: () => void): void => {
  handleDeletion = listener;
};

/** Deletes the snapshots at once, because the page may be about to close, and those that a page is just saving. */
export const deleteFirstViews = async (): Promise<void> => {
  if (!("caches" in globalThis)) return;
  await caches.delete(firstViewCacheName);
  await withFirstViewLock(() => caches.delete(firstViewCacheName));
  handleDeletion();
};
