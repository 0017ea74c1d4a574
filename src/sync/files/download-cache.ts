import type { AttachedBody } from "#contract/conversations.ts";
import { readPath } from "#contract/files.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import { retryDelayMs } from "#lib/http/backoff.ts";
import { asSyncError, isRetryableFailure, SyncError } from "#sync/platform/sync-error.ts";
import type { LocalStore } from "#sync/store/database.ts";
import { deleteCachedFiles, evictCachedFiles, isQuotaError } from "#sync/store/storage-quota.ts";
import { retryOnQuotaError, type SyncContext } from "#sync/store/sync-context.ts";

const cacheMaxBytes = 200 * 1024 * 1024;
const orphanAgeMs = 24 * 3_600_000;
const cacheQuotaShare = 0.1; // of what the browser lets this origin keep
const downloadIdleMs = 30_000; // a slow network brings something within this
const maxTriesWithoutProgress = 5;

/** What has come of a file; a link that drops takes nothing of it away. */
type PartialDownload = { chunks: Uint8Array<ArrayBuffer>[]; bytes: number; size: number };

/** Reads on from where it stands until the end; throws a SyncError. */
const resumeDownload = async ({ platform }: SyncContext, path: string, fetched: PartialDownload): Promise<void> => {
  const controller = new AbortController();
  let cancelIdle = () => {};
  const noteLife = () => {
    cancelIdle();
    cancelIdle = platform.startTimer(downloadIdleMs, () => controller.abort());
  };
  noteLife();
  try {
    const response = await platform.download(path, fetched.bytes, controller.signal);
    if (response.status !== 206) Object.assign(fetched, { pieces: [], bytes: 0 });
    const reader = response.body?.getReader();
    while (reader) {
      const { done, value } = await reader.read();
      if (done) break;
      noteLife();
      fetched.chunks.push(value);
      fetched.bytes += value.length;
    }
    if (fetched.bytes < fetched.size) throw new SyncError("offline");
  } catch (error) {
    throw error instanceof SyncError ? error : new SyncError("offline");
  } finally {
    cancelIdle();
  }
};

/** Fetches a file and keeps it to be seen again. Throws a SyncError. */
export const fetchAndCacheFile = async (
  context: SyncContext,
  conversation: ConversationId,
  { file, mime, size }: Pick<AttachedBody, "file" | "mime" | "size">,
): Promise<Blob> => {
  const { platform } = context;
  const fetched: PartialDownload = { chunks: [], bytes: 0, size };
  for (let tries = 0; ; ) {
    const before = fetched.bytes;
    try {
      await resumeDownload(context, readPath(conversation, file), fetched);
      break;
    } catch (error) {
      if (fetched.bytes >= size) break;
      tries = fetched.bytes > before ? 1 : tries + 1;
      if (!isRetryableFailure(asSyncError(error)) || tries >= maxTriesWithoutProgress) throw error;
      const delay = retryDelayMs(tries, platform.random);
      await new Promise<void>((resolve) => platform.startTimer(delay, resolve));
    }
  }
  const blob = new Blob(fetched.chunks, { type: mime });
  await saveDownload(context, conversation, file, blob).catch((error: unknown) => {
    if (!isQuotaError(error)) context.reportStoreFailure(error); // without room it is shown all the same
  });
  return blob;
};

const saveDownload = async (
  context: SyncContext,
  conversation: ConversationId,
  file: Uuid,
  blob: Blob,
): Promise<void> => {
  const { store, platform } = context;
  const row = { file, size: blob.size, usedAt: platform.now() };
  await retryOnQuotaError(
    context,
    () =>
      store.transaction("rw", [store.files, store.blobs], async () => {
        await store.blobs.put({ file, blob });
        await store.files.put(row);
      }),
    false,
  );
  // Of a group that went while its file was on the way nothing is kept.
  if ((await store.conversations.get(conversation))?.gone) await deleteCachedFiles(store, [file]);
  await trimFileCache(context);
};

/** No more than a fair part of the phone is taken by what can be had again. */
export const trimFileCache = async ({ store, platform }: SyncContext): Promise<void> => {
  await deleteOrphanBlobs(store, platform.now());
  const quota = await platform.estimateQuota().catch(() => undefined);
  await evictCachedFiles(store, Math.min(cacheMaxBytes, (quota ?? Number.POSITIVE_INFINITY) * cacheQuotaShare));
};

/** Bytes of a page that died before it wrote what they are for. Their ids say when they were made. */
const deleteOrphanBlobs = (store: LocalStore, now: number): Promise<void> =>
  store.transaction("rw", [store.uploads, store.files, store.blobs, store.postbox, store.meta], async () => {
    const [blobs, ...known] = await Promise.all(
      [store.blobs, store.uploads, store.files, store.postbox].map((table) => table.toCollection().primaryKeys()),
    );
    const named = new Set([...known.flat(), ...(await store.readDraftFiles())]);
    const isOld = (file: Uuid) => Number.parseInt(file.replace("-", "").slice(0, 12), 16) < now - orphanAgeMs;
    await store.blobs.bulkDelete((blobs ?? []).filter((file) => !named.has(file) && isOld(file)));
  });
