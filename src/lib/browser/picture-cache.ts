/** Where the service worker keeps pictures of people and groups, and those of statuses (`src/sw/pictures.ts`). */
export const avatarCacheName = "avatars";
export const postPictureCacheName = "post-pictures";

const idLength = 36; // a key begins with the id of whose picture it is

const toPictureKey = (path: string): string => decodeURIComponent(path.split("/").at(-1) ?? "");
const toRequestKey = ({ url }: Request): string => toPictureKey(new URL(url).pathname);

/** The id of the status whose picture this is: it follows its author's. */
export const toPicturePostId = (path: string): string => toPictureKey(path).slice(idLength + 1, 2 * idLength + 1);

/** Forgets the pictures of these people and groups. */
export const deleteCachedAvatars = async (owners: ReadonlySet<string>): Promise<void> => {
  if (!("caches" in globalThis)) return;
  const cache = await caches.open(avatarCacheName);
  const kept = await cache.keys();
  const dropped = kept.filter((request) => owners.has(toRequestKey(request).slice(0, idLength)));
  await Promise.all(dropped.map((request) => cache.delete(request)));
};

/** Forgets the pictures of statuses that are not among these, which are asked for once it is known which are kept. */
export const pruneCachedPostPictures = async (listWanted: () => Promise<ReadonlySet<string>>): Promise<void> => {
  if (!("caches" in globalThis)) return;
  const cache = await caches.open(postPictureCacheName);
  const kept = await cache.keys();
  if (kept.length === 0) return;
  const wanted = await listWanted();
  const dropped = kept.filter((request) => !wanted.has(toPicturePostId(new URL(request.url).pathname)));
  await Promise.all(dropped.map((request) => cache.delete(request)));
};

export const deleteAllCachedPictures = async (): Promise<void> => {
  if (!("caches" in globalThis)) return;
  await Promise.all([avatarCacheName, postPictureCacheName].map((cache) => caches.delete(cache)));
};
