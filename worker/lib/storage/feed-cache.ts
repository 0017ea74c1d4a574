import { feedFreshMs, feedOlderMs } from "#contract/limits/tala.ts";
import { BoundedMap } from "#worker/lib/limits/bounded-map.ts";
import { logError } from "#worker/lib/log.ts";

/**
 * Cache of the public feed, shared by all readers. First comes the memory of this isolate, where concurrent requests
 * share one load; then the edge cache of the data centre; then the directory. A page is a string without personal data
 * and without statuses for fewer people than everyone, cached under a URL that contains only its cursor.
 */
type CachedPage = Omit<LoadedPage, "isPast"> & { etag: string; readAt: number };

const pagesMax = 200; // in memory, at most `postPageBytes` each
const flightMaxMs = 2_000; // longest wait for another request's load before loading separately
const readAtHeader = "x-read-at";
const olderProfilesHeader = "x-has-frozen";
const nextHeader = "x-next";
const headHeader = "x-head";
const restrictedHeader = "x-restricted";
const cursorsMax = 2_000; // cursors named by pages; readers scroll at most some hundred pages in half a minute

/**
 * Page loaded from the directory. `isPast`: no status can be added to it any more. `next`: cursor of the next page.
 * `hasOlderProfiles`: an author of the page shows an older name or picture to somebody they block. `head`: greatest whole
 * number of any status when the page was read. `restricted`: number of statuses for fewer people in the range of the
 * page.
 */
export type LoadedPage = {
  body: string;
  isPast: boolean;
  next: number | null;
  hasOlderProfiles: boolean;
  head: number;
  restricted: number;
};
type LoadPage = () => Promise<LoadedPage>;

type CacheContext = { context: Pick<ExecutionContext, "waitUntil">; origin: string };

const toCacheUrl = (origin: string, before: number | undefined): string =>
  `${origin}/api/tala/kept/${before ?? "newest"}`;
const freshMs = (before: number | undefined): number => (before === undefined ? feedFreshMs : feedOlderMs);
const isFresh = ({ readAt }: CachedPage, before: number | undefined): boolean =>
  Math.abs(Date.now() - readAt) < freshMs(before);

export const createPageEtag = async (body: string): Promise<string> => {
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(body));
  return `W/"${Buffer.from(hash).toString("base64url").slice(0, 22)}"`;
};

const findInEdgeCache = async (address: string): Promise<CachedPage | undefined> => {
  const cached = await caches.default.match(address);
  const [etag, readAt] = [cached?.headers.get("etag"), cached?.headers.get(readAtHeader)];
  if (!cached || !etag || !readAt) return undefined;
  const next = cached.headers.get(nextHeader);
  return {
    body: await cached.text(),
    etag,
    readAt: Number(readAt),
    next: next === null ? null : Number(next),
    hasOlderProfiles: cached.headers.has(olderProfilesHeader),
    head: Number(cached.headers.get(headHeader)),
    restricted: Number(cached.headers.get(restrictedHeader)),
  };
};

const putInEdgeCache = async (
  address: string,
  { body, etag, readAt, next, hasOlderProfiles, head, restricted }: CachedPage,
  maxAgeMs: number,
): Promise<void> => {
  const headers = {
    "content-type": "application/json",
    "cache-control": `public, max-age=${maxAgeMs / 1_000}`,
    etag,
    [readAtHeader]: String(readAt),
    [headHeader]: String(head),
    [restrictedHeader]: String(restricted),
    ...(hasOlderProfiles ? { [olderProfilesHeader]: "1" } : {}),
    ...(next === null ? {} : { [nextHeader]: String(next) }),
  };
  await caches.default.put(address, new Response(body, { headers }));
};

/** Waits for a load started by another request, whose end may abort it. */
const waitForFlight = async (flight: Promise<CachedPage>): Promise<CachedPage | undefined> => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const tooLong = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), flightMaxMs);
  });
  try {
    return await Promise.race([flight, tooLong]);
  } finally {
    clearTimeout(timer);
  }
};

/** Feed cache of one isolate. */
export class FeedCache {
  readonly #pages = new BoundedMap<string, CachedPage>(pagesMax);
  readonly #flights = new Map<string, Promise<CachedPage>>();
  /** Cursors named by cached pages. No scrolling reader requests any other cursor, and its page is not cached. */
  readonly #namedCursors = new BoundedMap<number, true>(cursorsMax);
  #invalidations = 0; // a page read before the latest invalidation is not cached

  /** Page as JSON, at most `feedFreshMs` old, or `feedOlderMs` for a page further down. */
  async getPage(cacheContext: CacheContext, before: number | undefined, loadPage: LoadPage): Promise<CachedPage> {
    const address = toCacheUrl(cacheContext.origin, before);
    const inMemory = this.#pages.get(address);
    if (inMemory && isFresh(inMemory, before)) return inMemory;
    const sharedFlight = this.#flights.get(address);
    const shared = sharedFlight && (await waitForFlight(sharedFlight));
    if (shared) return shared;
    const flight = this.#load(cacheContext, address, before, loadPage).finally(() => {
      if (this.#flights.get(address) === flight) this.#flights.delete(address);
    });
    this.#flights.set(address, flight);
    // Other requests wait for this load, even if its own client has disconnected.
    cacheContext.context.waitUntil(flight.catch(() => undefined));
    return flight;
  }

  /** Invalidates the pages cached here. Other data centres keep theirs until they expire. */
  async invalidate(origin: string): Promise<void> {
    this.#invalidations++;
    const addresses = new Set([toCacheUrl(origin, undefined), ...this.#pages.keys()]);
    this.#pages.clear();
    this.#flights.clear();
    await Promise.all([...addresses].map((address) => caches.default.delete(address)));
  }

  async #load(
    { context }: CacheContext,
    address: string,
    before: number | undefined,
    loadPage: LoadPage,
  ): Promise<CachedPage> {
    const invalidations = this.#invalidations;
    const cached = await findInEdgeCache(address);
    if (cached && isFresh(cached, before)) {
      if (invalidations === this.#invalidations) this.#store(address, cached);
      return cached;
    }
    const readAt = Date.now();
    const { isPast, ...loaded } = await loadPage();
    const page = { ...loaded, etag: await createPageEtag(loaded.body), readAt };
    // A cached page before a number that is not assigned yet would hide statuses published meanwhile.
    const isNamed = before === undefined || this.#namedCursors.has(before);
    if (isPast && isNamed && invalidations === this.#invalidations) {
      this.#store(address, page);
      const put = putInEdgeCache(address, page, freshMs(before)).then(() =>
        invalidations === this.#invalidations ? undefined : caches.default.delete(address),
      );
      context.waitUntil(put.catch((error: unknown) => logError("cache a page of the feed", error)));
    }
    return page;
  }

  #store(address: string, page: CachedPage): void {
    this.#pages.set(address, page);
    if (page.next !== null) this.#namedCursors.set(page.next, true);
  }
}

export const feedCache = new FeedCache();
