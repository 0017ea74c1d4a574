import { drop, find, keep, keysOf } from "./safe-cache.ts";

/** Everything this version of the app may load, by path; names carry a hash of the content. */
declare const __ASSETS__: readonly string[];

const cache = "shell";
const page = "/app";
const assets = __ASSETS__;
// A person reads one language: all its texts are kept once some were loaded, and renewed with the rest from then on.
const languageOf = (path: string): string | undefined => /^\/assets\/(fr|en|pt)-[^/]+$/.exec(path)?.[1];
// Which files a version consists of: an open tab of the version before may still ask for one of its own.
const listKey = "/sw-versions";
const fetchesAtOnce = 4;

const readLists = async (): Promise<string[][]> => {
  const stored = await find(cache, listKey);
  if (!stored) return [];
  const lists: unknown = await stored.json().catch(() => []);
  return Array.isArray(lists) ? (lists as string[][]) : [];
};

/** Fetches what is not kept yet. Hashed names never change, so the browser's own cache is as good as the network. */
const fetchMissing = async (paths: readonly string[]): Promise<void> => {
  const kept = new Set(await keysOf(cache));
  const missing = paths.filter((path) => !kept.has(path));
  const next = async (): Promise<void> => {
    for (let path = missing.shift(); path !== undefined; path = missing.shift()) {
      const response = await fetch(path);
      if (!response.ok) throw new Error(`${path} ${response.status}`);
      if (!(await keep(cache, path, response))) throw new Error("no room for the app's files");
    }
  };
  await Promise.all(Array.from({ length: fetchesAtOnce }, next));
};

/** Installs this version: the page first asked for fresh, then the files that changed. Rejects when one is missing. */
export const installShell = async (): Promise<void> => {
  const languages = new Set((await keysOf(cache)).map(languageOf));
  const isWanted = (language: string | undefined) => language === undefined || languages.has(language);
  await fetchMissing(assets.filter((path) => isWanted(languageOf(path))));
  const response = await fetch(page, { cache: "no-cache" });
  if (!response.ok || !(await keep(cache, page, response))) throw new Error("the app's page could not be kept");
  const before = await readLists();
  await keep(cache, listKey, new Response(JSON.stringify([assets, ...before.slice(0, 1)])));
};

/** Files of versions older than the one before this are nobody's any more. */
export const dropOldFiles = async (): Promise<void> => {
  const wanted = new Set([page, listKey, ...(await readLists()).flat()]);
  await drop(
    cache,
    (await keysOf(cache)).filter((key) => !wanted.has(key)),
  );
};

/** Keeps files a page has loaded, and of its language those too that other pages load. */
export const keepAssets = async (paths: string[]): Promise<void> => {
  const languages = new Set(paths.map(languageOf));
  const isWanted = (path: string) => paths.includes(path) || (languageOf(path) && languages.has(languageOf(path)));
  await fetchMissing(assets.filter(isWanted)).catch(() => undefined);
};

/** The app's page: from here at once; what is newer arrives with a newer worker. */
export const answerAppPage = async (request: Request): Promise<Response> => (await find(cache, page)) ?? fetch(request);

/** A script or style: hashed, so what is kept is right. */
export const answerAsset = async (
  request: Request,
  path: string,
  later: (work: Promise<unknown>) => void,
): Promise<Response> => {
  const kept = await find(cache, path);
  if (kept) return kept;
  const response = await fetch(request);
  if (!response.ok || !assets.includes(path)) return response;
  const keeping = keep(cache, path, response.clone());
  later(languageOf(path) ? keeping.then(() => keepAssets([path])) : keeping);
  return response;
};
