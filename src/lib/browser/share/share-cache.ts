/** Cache with the content that other apps shared (`stored-share.ts`). */
export const shareCacheName = "shares";

/** Deletes all shared content that was not sent. */
export const deleteShares = async (): Promise<void> => {
  if ("caches" in globalThis) await caches.delete(shareCacheName);
};
