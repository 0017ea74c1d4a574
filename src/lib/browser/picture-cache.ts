/** Where the service worker keeps pictures of people and groups, and those of statuses (`src/sw/pictures.ts`). */
export const pictureCache = "avatars";
export const postPictureCache = "post-pictures";

const idLength = 36; // a key begins with the id of whose picture it is

const keyIn = (path: string): string => decodeURIComponent(path.split("/").at(-1) ?? "");
const keyOf = ({ url }: Request): string => keyIn(new URL(url).pathname);

/** The id of the status whose picture this is: it follows its author's. */
export const postPictureOf = (path: string): string => keyIn(path).slice(idLength + 1, 2 * idLength + 1);

/** Forgets the pictures of these people and groups. */
export const dropPictures = async (owners: ReadonlySet<string>): Promise<void> => {
  if (!("caches" in globalThis)) return;
  const cache = await caches.open(pictureCache);
  const kept = await cache.keys();
  const dropped = kept.filter((request) => owners.has(keyOf(request).slice(0, idLength)));
  await Promise.all(dropped.map((request) => cache.delete(request)));
};

/** Forgets the pictures of statuses that are not among these, which are asked for once it is known which are kept. */
export const keepPostPictures = async (listWanted: () => Promise<ReadonlySet<string>>): Promise<void> => {
  if (!("caches" in globalThis)) return;
  const cache = await caches.open(postPictureCache);
  const kept = await cache.keys();
  if (kept.length === 0) return;
  const wanted = await listWanted();
  const dropped = kept.filter((request) => !wanted.has(postPictureOf(new URL(request.url).pathname)));
  await Promise.all(dropped.map((request) => cache.delete(request)));
};

export const dropAllPictures = async (): Promise<void> => {
  if (!("caches" in globalThis)) return;
  await Promise.all([pictureCache, postPictureCache].map((cache) => caches.delete(cache)));
};
