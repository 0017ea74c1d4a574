import { findCached, saveToCache } from "./safe-cache.ts";

const cacheName = "entry";
const networkTimeoutMs = 3_000;

const pagePaths = ["/", "/login", "/register", "/recover"];
export const isEntryPage = (path: string): boolean => pagePaths.includes(path);

/**
 * Keeps the entry pages of this version, whose files have just been kept: whoever signs out, or opens the product
 * by its address, finds them without a network too. The Worker answers in the person's language.
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
 * An entry page: from the network, whose answer knows the person's language; as last kept when that takes longer
 * than three seconds or fails.
 */
export const respondWithEntryPage = async (request: Request, path: string, later: (work: Promise<unknown>) => void) => {
  const fresh = fetch(request).then((response) => {
    if (response.ok && !response.redirected) later(saveToCache(cacheName, path, response.clone()));
    return response;
  });
  const kept = await findCached(cacheName, path);
  if (!kept) return fresh;
  const patience = new Promise<Response>((resolve) => setTimeout(() => resolve(kept), networkTimeoutMs));
  later(fresh.catch(() => undefined));
  return Promise.race([fresh.catch(() => kept), patience]);
};
