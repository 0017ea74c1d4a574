import { feedFreshMs, feedOlderMs } from "#contract/limits.ts";
import { BoundedMap } from "#worker/lib/limits/bounded-map.ts";
import { logError } from "#worker/lib/log.ts";

/**
 * The one feed that everybody reads, kept where it is asked for. Nearest is this runtime's memory, where all who ask at
 * once wait for one reading; then the place's cache, which all runtimes of a data centre share; then the directory. A page
 * is a string that was made for nobody in particular, kept under an address of its own that says only which page it is.
 */
type CachedPage = { body: string; etag: string; readAt: number; next: number | null; hasBlockedAvatars: boolean };

const pagesMax = 200; // in memory, at most `postPageBytes` each
const flightMaxMs = 2_000; // who waits for somebody else's reading longer than that reads for themselves
const readAtHeader = "x-read-at";
const blockedAvatarsHeader = "x-has-frozen";
const nextHeader = "x-next";
const cursorsMax = 2_000; // that pages named; nobody reads down further than some hundred pages in half a minute

/**
 * A page as the directory has it. `isPast`: nothing will come into it any more. `next`: the place that it names for who
 * reads on. `hasFrozen`: an author of it shows somebody whom they block an older picture.
 */
export type LoadedPage = { body: string; isPast: boolean; next: number | null; hasBlockedAvatars: boolean };
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
  const found = await caches.default.match(address);
  const [etag, readAt] = [found?.headers.get("etag"), found?.headers.get(readAtHeader)];
  if (!found || !etag || !readAt) return undefined;
  const next = found.headers.get(nextHeader);
  return {
    body: await found.text(),
    etag,
    readAt: Number(readAt),
    next: next === null ? null : Number(next),
    hasBlockedAvatars: found.headers.has(blockedAvatarsHeader),
  };
};

const putInEdgeCache = async (
  address: string,
  { body, etag, readAt, next, hasBlockedAvatars }: CachedPage,
  ms: number,
): Promise<void> => {
  const headers = {
    "content-type": "application/json",
    "cache-control": `public, max-age=${ms / 1_000}`,
    etag,
    [readAtHeader]: String(readAt),
    ...(hasBlockedAvatars ? { [blockedAvatarsHeader]: "1" } : {}),
    ...(next === null ? {} : { [nextHeader]: String(next) }),
  };
  await caches.default.put(address, new Response(body, { headers }));
};

/** Waits for a reading that somebody else's request began, whose end may take it along. */
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

/** The memory of one runtime. */
export class FeedCache {
  readonly #pages = new BoundedMap<string, CachedPage>(pagesMax);
  readonly #flights = new Map<string, Promise<CachedPage>>();
  /** Places that pages kept here named. Any other is asked by nobody who reads down, and no page of it is kept. */
  readonly #namedCursors = new BoundedMap<number, true>(cursorsMax);
  #invalidations = 0; // what was read before the last of them is kept by nobody

  /** A page as JSON, at most `feedFreshMs` old, or `feedOlderMs` where it begins further down. */
  async getPage(place: CacheContext, before: number | undefined, make: LoadPage): Promise<CachedPage> {
    const address = toCacheUrl(place.origin, before);
    const known = this.#pages.get(address);
    if (known && isFresh(known, before)) return known;
    const underWay = this.#flights.get(address);
    const shared = underWay && (await waitForFlight(underWay));
    if (shared) return shared;
    const flight = this.#load(place, address, before, make).finally(() => {
      if (this.#flights.get(address) === flight) this.#flights.delete(address);
    });
    this.#flights.set(address, flight);
    // Others wait for it, also when who asked first is gone.
    place.context.waitUntil(flight.catch(() => undefined));
    return flight;
  }

  /** What this place keeps is not true any more. Elsewhere it is kept until its time is over. */
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
    make: LoadPage,
  ): Promise<CachedPage> {
    const begun = this.#invalidations;
    const found = await findInEdgeCache(address);
    if (found && isFresh(found, before)) {
      if (begun === this.#invalidations) this.#store(address, found);
      return found;
    }
    const readAt = Date.now();
    const { body, isPast, next, hasBlockedAvatars } = await make();
    const page = { body, etag: await createPageEtag(body), readAt, next, hasBlockedAvatars };
    // What lies before a number that is not given yet would keep out those that get one meanwhile.
    const isNamed = before === undefined || this.#namedCursors.has(before);
    if (isPast && isNamed && begun === this.#invalidations) {
      this.#store(address, page);
      const put = putInEdgeCache(address, page, freshMs(before)).then(() =>
        begun === this.#invalidations ? undefined : caches.default.delete(address),
      );
      context.waitUntil(put.catch((error: unknown) => logError("keep a page of the feed", error)));
    }
    return page;
  }

  #store(address: string, page: CachedPage): void {
    this.#pages.set(address, page);
    if (page.next !== null) this.#namedCursors.set(page.next, true);
  }
}

export const feedCache = new FeedCache();
