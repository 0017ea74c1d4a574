/**
 * Names of the service worker's caches: avatars of people and groups, and pictures of statuses (`src/sw/pictures.ts`).
 */
export const avatarCacheName = "avatars";
export const postPictureCacheName = "post-pictures";

const idLength = 36; // a key starts with the id of its owner

const toPictureKey = (path: string): string => decodeURIComponent(path.split("/").at(-1) ?? "");
const toRequestKey = ({ url }: Request): string => toPictureKey(new URL(url).pathname);

/** Id of the status a picture belongs to; it follows the author's id in the key. */
export const toPicturePostId = (path: string): string => toPictureKey(path).slice(idLength + 1, 2 * idLength + 1);

/** Deletes the cached avatars of these people and groups. */
export const deleteCachedAvatars = async (owners: ReadonlySet<string>): Promise<void> => {
  if (!("caches" in globalThis)) return;
  const cache = await caches.open(avatarCacheName);
  const cached = await cache.keys();
  const outdated = cached.filter((request) => owners.has(toRequestKey(request).slice(0, idLength)));
  await Promise.all(outdated.map((request) => cache.delete(request)));
};

/** Deletes cached status pictures that are no longer wanted. The list is requested only if pictures are cached. */
export const pruneCachedPostPictures = async (listWanted: () => Promise<ReadonlySet<string>>): Promise<void> => {
  if (!("caches" in globalThis)) return;
  const cache = await caches.open(postPictureCacheName);
  const cached = await cache.keys();
  if (cached.length === 0) return;
  const wanted = await listWanted();
  const outdated = cached.filter((request) => !wanted.has(toPicturePostId(new URL(request.url).pathname)));
  await Promise.all(outdated.map((request) => cache.delete(request)));
};

export const deleteAllCachedPictures = async (): Promise<void> => {
  if (!("caches" in globalThis)) return;
  await Promise.all([avatarCacheName, postPictureCacheName].map((cache) => caches.delete(cache)));
};
