import * as v from "valibot";
import { createUuid, Uuid } from "#contract/ids.ts";
import { dayMs } from "#contract/limits/durations.ts";
import { fileMaxBytes } from "#contract/limits/files.ts";
import { isBlank } from "#contract/text.ts";
import { joinSharedTexts, sharedFilesMax, shareFields } from "#contract/wire/share-target.ts";
import { deleteShares, shareCacheName } from "./share-cache.ts";

/**
 * Shared content from its arrival in the service worker until it is sent (docs/decisions/installed-app.md). It is in a
 * cache, which writes files of any size to the disk. The service worker does not know who is signed in: the page that
 * opens a share gives it to its person.
 */
const StoredShare = v.object({
  id: Uuid,
  /** Time of arrival, epoch milliseconds of this device's clock. */
  receivedAt: v.number(),
  /** Person who opened it; nobody else can. */
  owner: v.optional(Uuid),
  /** Whether a page of another site is known to have sent it. */
  isFromSite: v.optional(v.boolean(), false),
  text: v.string(),
  /** Whether a text of it was sent while its files could not be. */
  isTextSent: v.optional(v.boolean(), false),
  files: v.array(v.object({ name: v.string(), type: v.string() })),
  /** Number of files that were too large or too many. */
  refusedCount: v.number(),
});
type StoredShare = v.InferOutput<typeof StoredShare>;

export type OpenedShare = Pick<StoredShare, "id" | "isFromSite" | "text" | "isTextSent" | "refusedCount"> & {
  files: File[];
};

const storedSharesMax = 5;
const shareMaxAgeMs = dayMs;
/** Time to sign in and open what was shared while nobody was signed in. */
const unownedMaxAgeMs = 15 * 60_000;

const folder = "/shares/";
const toRecordKey = (id: Uuid): string => folder + id;
const toFileKey = (id: Uuid, index: number): string => `${folder}${id}/${index}`;

const openCache = (): Promise<Cache> => caches.open(shareCacheName);

const readRecord = async (cache: Cache, id: Uuid): Promise<StoredShare | undefined> => {
  const found = await cache.match(toRecordKey(id));
  const parsed = v.safeParse(StoredShare, await found?.json().catch(() => undefined));
  return parsed.success ? parsed.output : undefined;
};

const writeRecord = (cache: Cache, share: StoredShare): Promise<void> =>
  cache.put(toRecordKey(share.id), Response.json(share));

/** Undefined if nothing is stored: opening would create the cache. */
const findCache = async (): Promise<Cache | undefined> =>
  "caches" in globalThis && (await caches.has(shareCacheName)) ? openCache() : undefined;

const findRecord = async (id: Uuid): Promise<StoredShare | undefined> => {
  const cache = await findCache();
  return cache && readRecord(cache, id);
};

/** Runs work on a share while no other tab does. */
const withShareLock = <T>(id: Uuid, work: () => Promise<T>): Promise<T> =>
  "locks" in navigator ? navigator.locks.request(`lisolo-share-${id}`, work) : work();

/** A time in the future was written before the clock was set back. */
const isExpired = ({ receivedAt, owner }: StoredShare, now: number): boolean =>
  receivedAt > now || now - receivedAt > (owner === undefined ? unownedMaxAgeMs : shareMaxAgeMs);

const listIds = async (cache: Cache): Promise<Uuid[]> => {
  const paths = (await cache.keys()).map(({ url }) => new URL(url).pathname.slice(folder.length));
  return [...new Set(paths.map((path) => path.split("/")[0] ?? ""))].filter((id) => v.is(Uuid, id)).sort();
};

/** Deletes a share with its files. */
const deleteShare = async (id: Uuid): Promise<void> => {
  const cache = await openCache();
  for (const request of await cache.keys())
    if (new URL(request.url).pathname.split("/")[2] === id) await cache.delete(request);
  if ((await cache.keys()).length === 0) await deleteShares();
};

/**
 * Deletes expired shares, incomplete ones of an earlier worker, and the oldest ones above the maximum. The cache may be
 * deleted with the last of them and must then be opened again: what is put into the former one is lost.
 */
const purgeShares = async (now: number, maxCount: number): Promise<void> => {
  const cache = await findCache();
  if (!cache) return;
  const ids = await listIds(cache); // sorted by creation time
  for (const [index, id] of ids.entries()) {
    const share = await readRecord(cache, id);
    if (!share || isExpired(share, now) || index < ids.length - maxCount) await deleteShare(id);
  }
};

const readText = (form: FormData, field: string): string => {
  const value = form.get(field);
  return typeof value === "string" ? value : "";
};

/**
 * Stores the form of a share and returns its id, undefined if the form has no content. Rejects, and leaves nothing
 * behind, if there is no room.
 */
export const saveShare = async (form: FormData, isFromSite: boolean, now: number): Promise<Uuid | undefined> => {
  const id = createUuid(now);
  const sent = form.getAll(shareFields.files).filter((entry) => typeof entry !== "string" && entry.name !== "");
  const files = (sent as File[]).filter(({ size }) => size <= fileMaxBytes).slice(0, sharedFilesMax);
  const { title, text, url } = shareFields;
  const joinedText = joinSharedTexts(readText(form, title), readText(form, text), readText(form, url));
  if (isBlank(joinedText) && sent.length === 0) return undefined;
  await purgeShares(now, storedSharesMax - 1);
  const cache = await openCache();
  try {
    for (const [index, file] of files.entries()) await cache.put(toFileKey(id, index), new Response(file));
    // Last: a share with a record is complete.
    await writeRecord(cache, {
      id,
      receivedAt: now,
      isFromSite,
      text: joinedText,
      isTextSent: false,
      files: files.map(({ name, type }) => ({ name, type })),
      refusedCount: sent.length - files.length,
    });
  } catch (error) {
    await deleteShare(id).catch(() => undefined);
    throw error;
  }
  return id;
};

/** Opens a share for a person, to whom it belongs from now on. Undefined if it is gone or belongs to somebody else. */
export const openShare = async (id: Uuid, user: Uuid, now: number): Promise<OpenedShare | undefined> => {
  const share = await findRecord(id);
  if (!share || (share.owner ?? user) !== user) return undefined;
  if (isExpired(share, now)) {
    await deleteShare(id);
    return undefined;
  }
  const cache = await openCache();
  if (share.owner === undefined) await writeRecord(cache, { ...share, owner: user });
  const files = await Promise.all(
    share.files.map(async ({ name, type }, index) => {
      const stored = await cache.match(toFileKey(id, index));
      return new File(stored ? [await stored.blob()] : [], name, { type });
    }),
  );
  const { isFromSite, text, isTextSent, refusedCount } = share;
  return { id, isFromSite, text, isTextSent, refusedCount, files };
};

/** State of a share in a tab, which another tab may have changed. */
type ShareVersion = Pick<OpenedShare, "id" | "isTextSent">;

/** Stored share, undefined if another tab has sent it, or its text, since. */
const findUnchanged = async ({ id, isTextSent }: ShareVersion): Promise<StoredShare | undefined> => {
  const share = await findRecord(id);
  return share?.isTextSent === isTextSent ? share : undefined;
};

/** Replaces the text of a share by what the person made of it. */
export const saveSharedText = (version: ShareVersion, text: string): Promise<void> =>
  withShareLock(version.id, async () => {
    const share = await findUnchanged(version);
    if (share) await writeRecord(await openCache(), { ...share, text });
  });

/**
 * Sends a share and deletes it, while no other tab sends it. `send` calls its argument once the text is sent, so that
 * the text is not sent again if the files cannot be. Resolves to false, without sending, if another tab has sent the
 * share or its text; rejects with the error of `send`.
 */
export const sendShare = (
  version: ShareVersion,
  send: (markTextSent: () => Promise<void>) => Promise<void>,
): Promise<boolean> =>
  withShareLock(version.id, async () => {
    const share = await findUnchanged(version);
    if (!share) return false;
    await send(async () => writeRecord(await openCache(), { ...share, text: "", isTextSent: true }));
    await deleteShare(version.id).catch(() => undefined); // it expires
    return true;
  });

/**
 * Deletes a share that the person does not want to send, and the earlier ones that nobody has opened: they would be
 * offered at the next start.
 */
export const discardShare = (id: Uuid): Promise<void> =>
  withShareLock(id, async () => {
    const cache = await openCache();
    for (const earlier of (await listIds(cache)).filter((other) => other < id))
      if ((await readRecord(cache, earlier))?.owner === undefined) await deleteShare(earlier);
    await deleteShare(id);
  });

/**
 * Looks for content that was shared while nobody was signed in: the newest that can still be opened, and whether any
 * was dropped because the sign-in took too long. Deletes what has expired and what belongs to others.
 */
export const findUnownedShare = async (
  me: Uuid | undefined,
  now: number,
): Promise<{ id: Uuid | undefined; wasDropped: boolean }> => {
  const cache = await findCache();
  if (!cache) return { id: undefined, wasDropped: false }; // a sign-out may have deleted all
  const ids = await listIds(cache);
  const shares = (await Promise.all(ids.map((id) => readRecord(cache, id)))).filter((share) => share !== undefined);
  const unowned = shares.filter(({ owner }) => owner === undefined);
  const id = unowned.findLast((share) => !isExpired(share, now))?.id;
  for (const share of shares) if (share.owner !== undefined && share.owner !== me) await deleteShare(share.id);
  await purgeShares(now, storedSharesMax);
  return { id, wasDropped: id === undefined && unowned.length > 0 };
};
