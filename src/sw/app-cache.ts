import { deleteFromCache, findCached, listCachedKeys, saveToCache } from "./safe-cache.ts";

/** Everything this version of the app may load, by path; names carry a hash of the content. */
declare const __ASSETS__: readonly string[];

const cacheName = "shell";
const appPagePath = "/app";
const assets = __ASSETS__;
// A person reads one language: all its texts are kept once some were loaded, and renewed with the rest from then on.
const getTextsLanguage = (path: string): string | undefined => /^\/assets\/(fr|en|pt)-[^/]+$/.exec(path)?.[1];
// Which files a version consists of: an open tab of the version before may still ask for one of its own.
const versionListKey = "/sw-versions";
const fetchesAtOnce = 4;

const readVersionLists = async (): Promise<string[][]> => {
  const stored = await findCached(cacheName, versionListKey);
  if (!stored) return [];
  const lists: unknown = await stored.json().catch(() => []);
  return Array.isArray(lists) ? (lists as string[][]) : [];
};

/** Fetches what is not kept yet. Hashed names never change, so the browser's own cache is as good as the network. */
const cacheMissingFiles = async (paths: readonly string[]): Promise<void> => {
  const kept = new Set(await listCachedKeys(cacheName));
  const missing = paths.filter((path) => !kept.has(path));
  const next = async (): Promise<void> => {
    for (let path = missing.shift(); path !== undefined; path = missing.shift()) {
      const response = await fetch(path);
      if (!response.ok) throw new Error(`${path} ${response.status}`);
      if (!(await saveToCache(cacheName, path, response))) throw new Error("no room for the app's files");
    }
  };
  await Promise.all(Array.from({ length: fetchesAtOnce }, next));
};

/** Installs this version: the page first asked for fresh, then the files that changed. Rejects when one is missing. */
export const installAppShell = async (): Promise<void> => {
  const languages = new Set((await listCachedKeys(cacheName)).map(getTextsLanguage));
  const isWanted = (language: string | undefined) => language === undefined || languages.has(language);
  await cacheMissingFiles(assets.filter((path) => isWanted(getTextsLanguage(path))));
  const response = await fetch(appPagePath, { cache: "no-cache" });
  if (!response.ok || !(await saveToCache(cacheName, appPagePath, response)))
    throw new Error("the app's page could not be kept");
  const before = await readVersionLists();
  await saveToCache(cacheName, versionListKey, new Response(JSON.stringify([assets, ...before.slice(0, 1)])));
};

/** Files of versions older than the one before this are nobody's any more. */
export const deleteOldFiles = async (): Promise<void> => {
  const wanted = new Set([appPagePath, versionListKey, ...(await readVersionLists()).flat()]);
  await deleteFromCache(
    cacheName,
    (await listCachedKeys(cacheName)).filter((key) => !wanted.has(key)),
  );
};

/** Keeps files a page has loaded, and of its language those too that other pages load. */
export const cacheAssets = async (paths: string[]): Promise<void> => {
  const languages = new Set(paths.map(getTextsLanguage));
  const isWanted = (path: string) =>
    paths.includes(path) || (getTextsLanguage(path) && languages.has(getTextsLanguage(path)));
  await cacheMissingFiles(assets.filter(isWanted)).catch(() => undefined);
};

/** The app's page: from here at once; what is newer arrives with a newer worker. */
export const respondWithAppPage = async (request: Request): Promise<Response> =>
  (await findCached(cacheName, appPagePath)) ?? fetch(request);

/** A script or style: hashed, so what is kept is right. */
export const respondWithAsset = async (
  request: Request,
  path: string,
  later: (work: Promise<unknown>) => void,
): Promise<Response> => {
  const kept = await findCached(cacheName, path);
  if (kept) return kept;
  const response = await fetch(request);
  if (!response.ok || !assets.includes(path)) return response;
  const keeping = saveToCache(cacheName, path, response.clone());
  later(getTextsLanguage(path) ? keeping.then(() => cacheAssets([path])) : keeping);
  return response;
};
