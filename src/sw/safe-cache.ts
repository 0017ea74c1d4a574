/** Cache Storage without errors: a browser without room or permission behaves like an empty cache. */

/** Cached response of a path, or undefined. */
export const findCached = async (cache: string, key: string): Promise<Response | undefined> => {
  try {
    return await (await caches.open(cache)).match(key, { ignoreVary: true });
  } catch {
    return undefined;
  }
};

/** Stores a response. Resolves to false if there is no room. */
export const saveToCache = async (cache: string, key: string, response: Response): Promise<boolean> => {
  try {
    await (await caches.open(cache)).put(key, response);
    return true;
  } catch {
    return false;
  }
};

export const listCachedKeys = async (cache: string): Promise<string[]> => {
  try {
    const requests = await (await caches.open(cache)).keys();
    return requests.map(({ url }) => {
      const { pathname, search } = new URL(url);
      return pathname + search;
    });
  } catch {
    return [];
  }
};

export const deleteFromCache = async (cache: string, keys: string[]): Promise<void> => {
  try {
    const opened = await caches.open(cache);
    for (const key of keys) await opened.delete(key, { ignoreVary: true });
  } catch {
    // A cache that cannot be opened is empty.
  }
};
