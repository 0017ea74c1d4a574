import { feedFreshMs, feedOlderMs } from "../../contract/limits";
import { openDb } from "../db/client";
import { toPostPage } from "./page";
import { listFeed } from "./queries";

/**
 * The one feed that everybody reads, kept where it is asked for. Nearest is this runtime's memory, where all who ask at
 * once wait for one reading; then the place's cache, which all runtimes of a data centre share; then the directory. A page
 * is a string that was made for nobody in particular, kept under an address of its own that says only which page it is.
 */
export type KeptPage = { body: string; etag: string; readAt: number };

const pagesMax = 200; // in memory, at most `postPageBytes` each
const flightMaxMs = 2_000; // who waits for somebody else's reading longer than that reads for themselves
const readAtHeader = "x-read-at";

const kept = new Map<string, KeptPage>();
const flights = new Map<string, Promise<KeptPage>>();
let changes = 0; // a reading that began before the last of them is kept by nobody

type Place = { env: Pick<Env, "DB">; context: Pick<ExecutionContext, "waitUntil">; origin: string };

const addressOf = (origin: string, before: number | undefined): string =>
  `${origin}/api/tala/kept/${before ?? "newest"}`;
const freshMs = (before: number | undefined): number => (before === undefined ? feedFreshMs : feedOlderMs);
const isFresh = ({ readAt }: KeptPage, before: number | undefined): boolean =>
  Math.abs(Date.now() - readAt) < freshMs(before);

const keep = (address: string, page: KeptPage): void => {
  kept.delete(address);
  kept.set(address, page);
  const [oldest] = kept.keys();
  if (kept.size > pagesMax && oldest !== undefined) kept.delete(oldest);
};

const digest = async (body: string): Promise<string> => {
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(body));
  return `W/"${Buffer.from(hash).toString("base64url").slice(0, 22)}"`;
};

const findAtPlace = async (address: string): Promise<KeptPage | undefined> => {
  const found = await caches.default.match(address);
  const [etag, readAt] = [found?.headers.get("etag"), found?.headers.get(readAtHeader)];
  return found && etag && readAt ? { body: await found.text(), etag, readAt: Number(readAt) } : undefined;
};

const keepAtPlace = async (address: string, { body, etag, readAt }: KeptPage, ms: number): Promise<void> => {
  const headers = {
    "content-type": "application/json",
    "cache-control": `public, max-age=${ms / 1_000}`,
    etag,
    [readAtHeader]: String(readAt),
  };
  await caches.default.put(address, new Response(body, { headers }));
};

const load = async ({ env, context, origin }: Place, before: number | undefined): Promise<KeptPage> => {
  const address = addressOf(origin, before);
  const begun = changes;
  const found = await findAtPlace(address);
  if (found && isFresh(found, before)) {
    if (begun === changes) keep(address, found);
    return found;
  }
  const readAt = Date.now();
  const { rows, isPast } = await listFeed(openDb(env), before);
  const body = JSON.stringify(toPostPage(rows));
  const page = { body, etag: await digest(body), readAt };
  // What lies before a number that is not given yet would keep out those that get one meanwhile.
  if (isPast && begun === changes) {
    keep(address, page);
    const put = keepAtPlace(address, page, freshMs(before)).then(() =>
      begun === changes ? undefined : caches.default.delete(address),
    );
    context.waitUntil(put.catch((error: unknown) => console.error("keep a page of the feed", error)));
  }
  return page;
};

/** Waits for a reading that somebody else's request began, whose end may take it along. */
const waitFor = async (flight: Promise<KeptPage>): Promise<KeptPage | undefined> => {
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

/** A page of the feed as JSON, at most `feedFreshMs` old, or `feedOlderMs` where it begins further down. */
export const readFeed = async (place: Place, before: number | undefined): Promise<KeptPage> => {
  const address = addressOf(place.origin, before);
  const known = kept.get(address);
  if (known && isFresh(known, before)) return known;
  const underWay = flights.get(address);
  const shared = underWay && (await waitFor(underWay));
  if (shared) return shared;
  const flight = load(place, before);
  flights.set(address, flight);
  const landed = flight.finally(() => {
    if (flights.get(address) === flight) flights.delete(address);
  });
  // Others wait for it, also when who asked first is gone.
  place.context.waitUntil(landed.catch(() => undefined));
  return landed;
};

/** What this place keeps of the feed is not true any more. Elsewhere it is so until its time is over. */
export const forgetFeed = async (origin: string): Promise<void> => {
  changes++;
  const addresses = new Set([addressOf(origin, undefined), ...kept.keys()]);
  kept.clear();
  flights.clear();
  await Promise.all([...addresses].map((address) => caches.default.delete(address)));
};
