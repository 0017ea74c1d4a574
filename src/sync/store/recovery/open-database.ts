import Dexie from "dexie";
import * as v from "valibot";
import { attachmentOf } from "#contract/conversations.ts";
import type { Uuid } from "#contract/ids.ts";
import type { Platform } from "#sync/platform/platform.ts";
import {
  type BlobRow,
  type ChunkRow,
  chosenIn,
  type MetaRow,
  type OutboxRow,
  type PostboxRow,
  type RecordingRow,
  Store,
  storeName,
  type UploadRow,
} from "#sync/store/database.ts";
import { listWithdrawn, noteWithdrawn } from "#sync/store/pending-deletion-rows.ts";
import { blankRow, placeInList } from "#sync/store/row-mapping.ts";
import { isWaiting, readSettings, updateSettings } from "#sync/store/settings-rows.ts";
import {
  RescuedBlob,
  RescuedChunk,
  RescuedMessage,
  RescuedMeta,
  RescuedPost,
  RescuedRecording,
  RescuedUpload,
} from "./salvage-schemas.ts";
import { dropAside, keepAside, readAside, type UnsentRows } from "./unsent-backup.ts";

export type Stores = { store: Store; strict: Store };
type Where = NonNullable<Platform["storage"]>;

export type Opened = Stores & {
  /** "memory": nothing here outlives this page. */
  trouble: "memory" | undefined;
  /** Nothing that the server said is in it. */
  isNew: boolean;
};

export const nothingUnsent: UnsentRows = {
  outbox: [],
  uploads: [],
  blobs: [],
  meta: [],
  recordings: [],
  chunks: [],
  postbox: [],
};

/** A store that answers neither yes nor no: it may be sound, and what is in it is not to be given up. */
class StuckStoreError extends Error {}

const withTimeout = <T>(platform: Platform, work: Promise<T>): Promise<T> =>
  new Promise<T>((resolve, reject) => {
    const cancel = platform.after(platform.openTimeoutMs, () =>
      reject(new StuckStoreError("the local store does not open")),
    );
    work.then(resolve, reject).finally(cancel);
  });

export const closeStores = ({ store, strict }: Stores): void => {
  store.close();
  strict.close();
};

/**
 * A page that is left while it makes its store can be frozen with the store half made, and then no page can open
 * it. The browser ends a frozen page when another one asks for a lock that it holds: so pages open one at a time.
 */
const oneAtATime = async <T>(platform: Platform, name: string, work: () => Promise<T>): Promise<T> => {
  const { locks, openTimeoutMs } = platform;
  if (!locks) return work();
  const waiting = new AbortController();
  // A page that sleeps with the lock keeps nobody from trying.
  const cancel = platform.after(openTimeoutMs, () => waiting.abort());
  let isTurn = false;
  try {
    return await locks.request(`${name}-opening`, { signal: waiting.signal }, () => {
      isTurn = true;
      cancel();
      return work();
    });
  } catch (error) {
    if (isTurn) throw error;
    return work();
  } finally {
    cancel();
  }
};

const openPlainly = async (platform: Platform, name: string, where: Partial<Where>): Promise<Stores> => {
  const stores = { store: new Store(name, "relaxed", where), strict: new Store(name, "strict", where) };
  try {
    await oneAtATime(platform, name, () =>
      withTimeout(platform, Promise.all([stores.store.open(), stores.strict.open()])),
    );
    // A store that opens is not yet one that can be read.
    await stores.store.conversations.limit(1).toArray();
    await stores.store.outbox.limit(1).toArray();
    return stores;
  } catch (error) {
    closeStores(stores);
    throw error;
  }
};

/** Reads what is unsent out of a store that this version cannot use, by the plainest way there is. */
const rescueUnsent = async (platform: Platform, name: string): Promise<UnsentRows> => {
  const old = new Dexie(name, { ...platform.storage, autoOpen: false });
  const read = async <T>(table: string, schema: v.GenericSchema): Promise<T[]> => {
    if (!old.tables.some((other) => other.name === table)) return [];
    const rows: unknown[] = await old.table(table).toArray();
    return rows.filter((row) => v.is(schema, row)) as T[];
  };
  try {
    await withTimeout(platform, old.open());
    const outbox = await read<OutboxRow>("outbox", RescuedMessage);
    const uploads = await read<UploadRow>("uploads", RescuedUpload).catch(() => []);
    const meta = await read<MetaRow>("meta", RescuedMeta).catch(() => []);
    const postbox = await read<PostboxRow>("postbox", RescuedPost).catch(() => []);
    const named = new Set([...filesOf(outbox), ...chosenIn(meta), ...postbox.map(({ id }) => id)]);
    const blobs = await read<BlobRow>("blobs", RescuedBlob).catch(() => []);
    const recordings = await read<RecordingRow>("recordings", RescuedRecording).catch(() => []);
    const chunks = await read<ChunkRow>("chunks", RescuedChunk).catch(() => []);
    return { outbox, uploads, blobs: blobs.filter(({ file }) => named.has(file)), meta, recordings, chunks, postbox };
  } catch (error) {
    if (error instanceof StuckStoreError) throw error;
    return nothingUnsent; // nothing of it can be read
  } finally {
    old.close();
  }
};

/** What is unsent in a store that is open, as when it is about to be deleted: the deletion waits for this page. */
export const readUnsentRows = async ({ store }: Stores): Promise<UnsentRows> => {
  const outbox = await store.outbox.toArray();
  const meta = (await store.meta.toArray()).filter((row) => v.is(RescuedMeta, row));
  const [uploads, postbox] = await Promise.all([store.uploads.toArray(), store.postbox.toArray()]);
  const [recordings, chunks] = await Promise.all([store.recordings.toArray(), store.chunks.toArray()]);
  const named = [...filesOf(outbox), ...chosenIn(meta), ...postbox.map(({ id }) => id)];
  const blobs = await store.blobs.where("file").anyOf(named).toArray();
  return { outbox, uploads, blobs, meta, recordings, chunks, postbox };
};

const filesOf = (outbox: readonly OutboxRow[]): Uuid[] => outbox.flatMap(({ body }) => attachmentOf(body)?.file ?? []);

const putBack = async ({ strict }: Stores, me: Uuid, unsent: UnsentRows): Promise<void> => {
  const { outbox, uploads, blobs } = unsent;
  const kept = new Set(blobs.map(({ file }) => file));
  const named = new Set(filesOf(outbox));
  await strict.transaction("rw", [...strict.sending, strict.recordings, strict.chunks, strict.postbox], async () => {
    await strict.meta.bulkPut(unsent.meta);
    await strict.recordings.bulkPut(unsent.recordings);
    await strict.chunks.bulkPut(unsent.chunks);
    await strict.postbox.bulkPut(unsent.postbox);
    await strict.blobs.bulkPut(blobs);
    await strict.uploads.bulkPut(uploads.filter(({ file }) => kept.has(file)));
    const here = blobs.filter(({ file }) => named.has(file) && !uploads.some((upload) => upload.file === file));
    await strict.files.bulkPut(here.map(({ file, blob }) => ({ file, size: blob.size, usedAt: 0 })));
    await strict.outbox.bulkPut(outbox.map((row) => withoutLostFile(row, kept)));
    for (const { conversation, createdAt } of outbox) {
      const row = (await strict.conversations.get(conversation)) ?? blankRow(conversation, me);
      placeInList(row, Math.max(createdAt, row.lastAt));
      await strict.conversations.put(row);
    }
  });
};

/** A message whose file was not brought over is not sent without it, and says so. */
const withoutLostFile = (row: OutboxRow, kept: ReadonlySet<Uuid>): OutboxRow =>
  row.state === "awaiting" && !kept.has(attachmentOf(row.body)?.file ?? "")
    ? { ...row, state: "failed", error: "file_not_found" }
    : row;

/**
 * Makes the store anew, keeping what is unsent; everything else comes from the server again. A store that is
 * only stuck stays as it is, and this page works from memory.
 */
const recreate = async (platform: Platform, me: Uuid): Promise<Opened> => {
  const name = storeName(me);
  let unsent = nothingUnsent;
  try {
    unsent = await rescueUnsent(platform, name);
    await keepAside(platform, name, unsent);
    await withTimeout(platform, new Dexie(name, { ...platform.storage, autoOpen: false }).delete());
    const stores = await openPlainly(platform, name, platform.storage ?? {});
    await takeBack(stores, platform, me);
    return { ...stores, trouble: undefined, isNew: true };
  } catch {
    return openInMemory(platform, me, unsent);
  }
};

/** Puts back what stands aside, from this page or from one that died before it could. */
const takeBack = async (stores: Stores, platform: Platform, me: Uuid): Promise<void> => {
  await putBack(stores, me, await readAside(platform, storeName(me)));
  await dropAside(platform, storeName(me));
};

const openInMemory = async (platform: Platform, me: Uuid, unsent: UnsentRows): Promise<Opened> => {
  const where = await platform.loadMemoryStorage();
  // Live queries do nothing while Dexie believes that there is no IndexedDB.
  Dexie.dependencies.indexedDB ??= where.indexedDB;
  // It is this page's alone: nobody has to be waited for.
  const stores = await openPlainly({ ...platform, locks: undefined }, storeName(me), where);
  await putBack(stores, me, unsent);
  return { ...stores, trouble: "memory", isNew: true };
};

/** Puts what was unsent into a store that was made anew. Where the bytes of files cannot be had any more, their messages say so. */
export const putBackUnsent = async (stores: Stores, me: Uuid, unsent: UnsentRows): Promise<void> => {
  try {
    await putBack(stores, me, unsent);
  } catch {
    await putBack(stores, me, { ...unsent, blobs: [], uploads: [], recordings: [], chunks: [], postbox: [] });
  }
};

/** Opens a person's store; `isSuspect` when it opened before and could not be worked with. */
export const openStores = async (platform: Platform, me: Uuid, isSuspect: boolean): Promise<Opened> => {
  if (isSuspect) return recreate(platform, me);
  try {
    const stores = await openPlainly(platform, storeName(me), platform.storage ?? {});
    const isNew = (await stores.store.meta.get("cursor")) === undefined;
    if (isNew) await takeBack(stores, platform, me);
    return { ...stores, trouble: undefined, isNew };
  } catch {
    return recreate(platform, me);
  }
};

export const deleteStore = async (platform: Platform, name: string): Promise<void> => {
  await new Dexie(name, { ...platform.storage, autoOpen: false }).delete();
  await dropAside(platform, name);
};

/**
 * After a session that ended without a sign-out: only what nobody else has stays, unsent messages and statuses with
 * their files, drafts, what was being chosen, a voice message half recorded, settings changed since, and what was deleted
 * while it was on its way.
 */
export const keepUnsentOnly = async (platform: Platform, me: Uuid): Promise<void> => {
  const { store, strict } = await openPlainly(platform, storeName(me), platform.storage ?? {});
  const begun = await store.begun().toArray();
  const unsent = await store.outbox.toArray();
  const posts = await store.postbox.toCollection().primaryKeys();
  const settings = await readSettings(store);
  const withdrawn = await listWithdrawn(store);
  const kept = begun.length + unsent.length + posts.length + withdrawn.length + (await store.recordings.count());
  const isWorthKeeping = kept > 0 || isWaiting(settings);
  // What is noted of texts and drafts stays: the store may not have it yet.
  const hasFiles = unsent.some(({ body }) => body.type !== "text");
  for (const note of hasFiles ? ["settings"] : ["settings", "files"])
    platform.notes?.removeItem(`${storeName(me)}-${note}`);
  if (isWorthKeeping) {
    const known = [store.people, store.conversations, store.messages, store.members, store.meta, store.posts];
    const named = [...filesOf(unsent), ...chosenIn(begun), ...posts];
    await store.transaction("rw", [...known, store.files, store.blobs], async () => {
      await Promise.all(known.map((table) => table.clear()));
      await Promise.all([store.files, store.blobs].map((table) => table.where("file").noneOf(named).delete()));
      await store.meta.bulkPut(begun);
      for (const one of withdrawn) await noteWithdrawn(store, one);
    });
    if (isWaiting(settings)) await updateSettings(store, () => ({ ...settings, kept: null }));
  }
  closeStores({ store, strict });
  if (!isWorthKeeping) await deleteStore(platform, storeName(me));
};
