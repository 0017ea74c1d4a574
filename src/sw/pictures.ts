import { avatarCacheName, postPictureCacheName, toPicturePostId } from "#lib/browser/picture-cache.ts";
import { deleteFromCache, findCached, listCachedKeys, saveToCache } from "./safe-cache.ts";

/** Pictures, none of which ever changes under its address: from here, else from the network, and kept. */
type PictureCacheOptions = {
  cache: string;
  countMax: number;
  /** One that is larger is not kept. */
  bytesMax: number;
  /** Which go first when there are too many; `used` are those seen since the worker started. */
  sortForEviction(keys: string[], used: ReadonlySet<string>): string[];
};

// Trimmed by a margin, so that not every new picture counts them all.
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

  return async (request: Request, later: WaitUntil): Promise<Response> => {
    const { pathname, search } = new URL(request.url);
    const key = pathname + search;
    used.add(key);
    const kept = await findCached(cache, key);
    if (kept) return kept;
    const response = await fetch(request);
    if (response.status === 200) {
      later(keepIfSmall(key, response.clone()));
      if (added++ % trimInterval === 0) later(trim());
    }
    return response;
  };
};

/** Pictures of people and groups. Sign-out removes them, and so does a group that goes. */
export const respondWithAvatar = createPictureResponder({
  cache: avatarCacheName,
  countMax: 200,
  bytesMax: Number.POSITIVE_INFINITY,
  sortForEviction: (keys, used) => [...keys.filter((key) => !used.has(key)), ...keys.filter((key) => used.has(key))],
});

const comparePostAge = (a: string, b: string): number => (toPicturePostId(a) < toPicturePostId(b) ? -1 : 1);

/**
 * Small pictures of statuses: as many as the feed keeps statuses, the newest of them, whose ids begin with their time.
 * The feed removes those of statuses that it does not show any more, sign-out all.
 */
export const respondWithPostPicture = createPictureResponder({
  cache: postPictureCacheName,
  countMax: 200,
  bytesMax: 24_000, // noise has 28 kB at that size, a photo 4 to 10
  sortForEviction: (keys) => keys.sort(comparePostAge),
});
export const isPostPicture = (path: string, search: string): boolean =>
  path.startsWith("/api/tala/pictures/") && search === "?size=small";
