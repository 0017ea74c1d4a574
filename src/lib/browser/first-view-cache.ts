import type { Language } from "#contract/language.ts";

/**
 * Snapshots of the list and of the last opened chat, saved by the app when it is left
 * (`src/app/opening/first-view-snapshot.ts`) and inserted into the app's page by the service worker.
 */
const firstViewCacheName = "first-views";

export type FirstViewSnapshot = {
  user: string;
  language: Language;
  view: string;
  conversation?: string | undefined;
  day: string;
};

/** Saves snapshots by path and deletes all others. */
export const saveFirstViews = async (snapshots: ReadonlyMap<string, FirstViewSnapshot>): Promise<void> => {
  if (!("caches" in globalThis)) return;
  const cache = await caches.open(firstViewCacheName);
  for (const request of await cache.keys())
    if (!snapshots.has(new URL(request.url).pathname)) await cache.delete(request);
  for (const [path, snapshot] of snapshots) await cache.put(path, Response.json(snapshot));
};

/** Reads the snapshot of a path; undefined if there is none or the browser has no cache. */
export const readFirstView = async (path: string): Promise<FirstViewSnapshot | undefined> => {
  try {
    const found = await (await caches.open(firstViewCacheName)).match(path);
    return found && ((await found.json()) as FirstViewSnapshot);
  } catch {
    return undefined;
  }
};

export const deleteFirstViews = async (): Promise<void> => {
  if ("caches" in globalThis) await caches.delete(firstViewCacheName);
};
