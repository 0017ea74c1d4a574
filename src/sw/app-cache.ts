import { isRecentlyConfirmed } from "#contract/auth/session-age.ts";
import { isLanguage } from "#contract/language.ts";
import type { AppTemplate } from "#contract/wire/document/document-headers.ts";
import { fillTemplate } from "#first-view/template.ts";
import { readFirstView } from "#lib/browser/first-view-cache.ts";
import { deleteFromCache, findCached, listCachedKeys, saveToCache } from "./safe-cache.ts";
import { updatePolicyKeys } from "./update-policy.ts";

/** Paths of all files that this version of the app may load. Their names contain a hash of the content. */
declare const __ASSETS__: readonly string[];

const cacheName = "shell";
const appPagePath = "/app";
const templatePath = "/entry/app-template.json";
const assets = __ASSETS__;
// Language of a file with texts. Once one of a language was loaded, all its texts are cached and updated with the app.
const getTextsLanguage = (path: string): string | undefined => {
  const [, name] = /^\/assets\/(\w+)-[^/]+$/.exec(path) ?? [];
  return isLanguage(name) ? name : undefined;
};
// Names of all emoji in a language, 20 kB each: cached once the search for emoji has used them.
const isCachedOnUse = (path: string): boolean => /^\/assets\/emoji-\w\w-[^/]+$/.test(path);
// Lists of the files of this version and the one before, from which an open tab may still load files.
const versionListKey = "/sw-versions";
const fetchesAtOnce = 4;

const readVersionLists = async (): Promise<string[][]> => {
  const stored = await findCached(cacheName, versionListKey);
  if (!stored) return [];
  const lists: unknown = await stored.json().catch(() => []);
  return Array.isArray(lists) ? (lists as string[][]) : [];
};

/** Fetches the files that are not cached, also from the HTTP cache: hashed files never change. Rejects on failure. */
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

/** Installs this version: caches its changed files, then its page without the HTTP cache. Rejects if one is missing. */
export const installAppShell = async (): Promise<void> => {
  const languages = new Set((await listCachedKeys(cacheName)).map(getTextsLanguage));
  const isWanted = (language: string | undefined) => language === undefined || languages.has(language);
  await cacheMissingFiles(assets.filter((path) => isWanted(getTextsLanguage(path)) && !isCachedOnUse(path)));
  const response = await fetch(appPagePath, { cache: "no-cache" });
  if (!response.ok || !(await saveToCache(cacheName, appPagePath, response)))
    throw new Error("the app's page could not be kept");
  const template = await fetch(templatePath, { cache: "no-cache" });
  if (template.ok) await saveToCache(cacheName, templatePath, template);
  const before = await readVersionLists();
  await saveToCache(cacheName, versionListKey, new Response(JSON.stringify([assets, ...before.slice(0, 1)])));
};

/** Deletes files that neither this version nor the one before needs. */
export const deleteOldFiles = async (): Promise<void> => {
  const wanted = new Set([
    appPagePath,
    templatePath,
    versionListKey,
    ...updatePolicyKeys,
    ...(await readVersionLists()).flat(),
  ]);
  await deleteFromCache(
    cacheName,
    (await listCachedKeys(cacheName)).filter((key) => !wanted.has(key)),
  );
};

/** Caches files that a page has loaded, and all text files of the same language. */
export const cacheAssets = async (paths: readonly string[]): Promise<void> => {
  const languages = new Set(paths.map(getTextsLanguage));
  const isWanted = (path: string) =>
    paths.includes(path) || (getTextsLanguage(path) && languages.has(getTextsLanguage(path)));
  await cacheMissingFiles(assets.filter(isWanted)).catch(() => undefined);
};

/** The app's page with the snapshot of this path, or undefined if there is none that may be shown. */
const fillWithSnapshot = async (path: string): Promise<Response | undefined> => {
  const [snapshot, template] = await Promise.all([readFirstView(path), findCached(cacheName, templatePath)]);
  if (!snapshot || !template) return undefined;
  if (navigator.onLine && !isRecentlyConfirmed(snapshot.confirmedAt, Date.now())) return undefined;
  const { html, headers } = await fillTemplate((await template.json()) as AppTemplate, { ...snapshot, data: "null" });
  return new Response(html, { headers: { ...headers, "content-type": "text/html; charset=utf-8" } });
};

/**
 * Responds with the app's page from the cache, with what the list or the last chat showed. A newer page arrives with a
 * newer service worker.
 */
export const respondWithAppPage = async (request: Request): Promise<Response> =>
  (await fillWithSnapshot(new URL(request.url).pathname).catch(() => undefined)) ??
  (await findCached(cacheName, appPagePath)) ??
  fetch(request);

/** Responds with a script or style, from the cache if possible: hashed files never change. */
export const respondWithAsset = async (
  request: Request,
  path: string,
  waitUntil: (work: Promise<unknown>) => void,
): Promise<Response> => {
  const kept = await findCached(cacheName, path);
  if (kept) return kept;
  const response = await fetch(request);
  if (!response.ok || !assets.includes(path)) return response;
  const keeping = saveToCache(cacheName, path, response.clone());
  waitUntil(getTextsLanguage(path) ? keeping.then(() => cacheAssets([path])) : keeping);
  return response;
};
