import { findCached, saveToCache } from "./safe-cache.ts";

const cacheName = "entry";
const networkTimeoutMs = 3_000;

const pagePaths = ["/", "/login", "/register", "/recover"];
export const isEntryPage = (path: string): boolean => pagePaths.includes(path);

/**
 * Caches the entry pages of this version after its files, so that they open offline after a sign-out or by their
 * address. The Worker renders them in the person's language. Rejects if one is missing.
 */
export const installEntryPages = async (): Promise<void> => {
  await Promise.all(
    pagePaths.map(async (path) => {
      const response = await fetch(path, { cache: "no-cache" });
      const isPage = response.ok && !response.redirected;
      if (!isPage || !(await saveToCache(cacheName, path, response))) throw new Error(`${path} could not be kept`);
    }),
  );
};

/**
 * Responds with an entry page from the network, in the person's language. After `networkTimeoutMs` or a failure the
 * cached page is used.
 */
export const respondWithEntryPage = async (
  request: Request,
  path: string,
  waitUntil: (work: Promise<unknown>) => void,
) => {
  const fresh = fetch(request).then((response) => {
    if (response.ok && !response.redirected) waitUntil(saveToCache(cacheName, path, response.clone()));
    return response;
  });
  const kept = await findCached(cacheName, path);
  if (!kept) return fresh;
  const patience = new Promise<Response>((resolve) => setTimeout(() => resolve(kept), networkTimeoutMs));
  waitUntil(fresh.catch(() => undefined));
  return Promise.race([fresh.catch(() => kept), patience]);
};
