/** Where the service worker keeps pictures of people and groups (`src/sw/avatars.ts`). */
export const pictureCache = "avatars";

const ownerLength = 36; // a key begins with the id of whose picture it is

const ownerOf = (address: string): string =>
  decodeURIComponent(new URL(address).pathname.split("/").at(-1) ?? "").slice(0, ownerLength);

/** Forgets the pictures of these people and groups. */
export const dropPictures = async (owners: ReadonlySet<string>): Promise<void> => {
  if (!("caches" in globalThis)) return;
  const cache = await caches.open(pictureCache);
  const kept = await cache.keys();
  await Promise.all(kept.filter(({ url }) => owners.has(ownerOf(url))).map((request) => cache.delete(request)));
};

export const dropAllPictures = async (): Promise<void> => {
  if ("caches" in globalThis) await caches.delete(pictureCache);
};
