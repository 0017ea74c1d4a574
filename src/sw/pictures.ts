import { avatarCacheName, postPictureCacheName, toPicturePostId } from "#lib/browser/picture-cache.ts";
import { deleteFromCache, findCached, listCachedKeys, saveToCache } from "./safe-cache.ts";

/** Cache of pictures that never change under their URL. */
type PictureCacheOptions = {
  cache: string;
  countMax: number;
  /** Larger pictures are not cached. */
  bytesMax: number;
  /** Order of eviction. `used` are the pictures requested since the service worker started. */
  sortForEviction(keys: string[], used: ReadonlySet<string>): string[];
};

// Number of new pictures between two evictions, which count the whole cache.
const trimInterval = 20;

type WaitUntil = (work: Promise<unknown>) => void;

const createPictureResponder = ({ cache, countMax, bytesMax, sortForEviction }: PictureCacheOptions) => {
  let added = 0;
  const used = new Set<string>();

  const keepIfSmall = async (key: string, response: Response): Promise<void> => {
    const { status, headers } = response;
    const bytes = await response.blob();
    if (bytes.size <= bytesMax) await saveToCache(cache, key, new Response(bytes, { status, headers }));
  };
  const trim = async (): Promise<void> => {
    const keys = await listCachedKeys(cache);
    const surplus = keys.length - countMax;
    if (surplus > 0) await deleteFromCache(cache, sortForEviction(keys, used).slice(0, surplus));
  };

  return async (request: Request, waitUntil: WaitUntil): Promise<Response> => {
    const { pathname, search } = new URL(request.url);
    const key = pathname + search;
    used.add(key);
    const kept = await findCached(cache, key);
    if (kept) return kept;
    const response = await fetch(request);
    if (response.status === 200) {
      waitUntil(keepIfSmall(key, response.clone()));
      if (added++ % trimInterval === 0) waitUntil(trim());
    }
    return response;
  };
};

/** Responds with the picture of a person or group. Sign-out deletes them; a removed group deletes its own. */
export const respondWithAvatar = createPictureResponder({
  cache: avatarCacheName,
  countMax: 200,
  bytesMax: Number.POSITIVE_INFINITY,
  sortForEviction: (keys, used) => [...keys.filter((key) => !used.has(key)), ...keys.filter((key) => used.has(key))],
});

const comparePostAge = (a: string, b: string): number => (toPicturePostId(a) < toPicturePostId(b) ? -1 : 1);

/**
 * Responds with the small picture of a status. The cache holds as many as the feed stores statuses; the oldest ids are
 * evicted first, since ids are time-ordered. The feed deletes pictures of statuses it no longer shows, sign-out all.
 */
export const respondWithPostPicture = createPictureResponder({
  cache: postPictureCacheName,
  countMax: 200,
  bytesMax: 24_000, // noise has 28 kB at that size, a photo 4 to 10
  sortForEviction: (keys) => keys.sort(comparePostAge),
});
export const isPostPicture = (path: string, search: string): boolean =>
  path.startsWith("/api/tala/pictures/") && search === "?size=small";
