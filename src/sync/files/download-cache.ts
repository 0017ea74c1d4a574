import { readPath } from "#contract/files.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import { dayMs } from "#contract/limits/durations.ts";
import type { AttachedBody } from "#contract/messages/body.ts";
import { retryDelayMs } from "#lib/http/backoff.ts";
import { asSyncError, isRetryableFailure, SyncError } from "#sync/platform/sync-error.ts";
import type { LocalStore } from "#sync/store/database.ts";
import { deleteCachedFiles, evictCachedFiles, isQuotaError } from "#sync/store/storage-quota.ts";
import { toStoredBytes } from "#sync/store/stored-bytes.ts";
import { retryOnQuotaError, type SyncContext } from "#sync/store/sync-context.ts";

const cacheMaxBytes = 200 * 1024 * 1024;
const orphanAgeMs = dayMs;
const cacheQuotaShare = 0.1; // of the storage quota that the browser grants this origin
const downloadIdleMs = 30_000; // a slow network delivers some bytes within this time
const maxTriesWithoutProgress = 5;

/** Bytes of a file received so far. They survive a dropped connection. */
type PartialDownload = { chunks: Uint8Array<ArrayBuffer>[]; bytes: number; size: number };

/** Continues a download by a range request until the end of the file. Throws a SyncError. */
const resumeDownload = async ({ platform }: SyncContext, path: string, download: PartialDownload): Promise<void> => {
  const controller = new AbortController();
  let cancelIdle = () => {};
  const restartIdleTimeout = () => {
    cancelIdle();
    cancelIdle = platform.startTimer(downloadIdleMs, () => controller.abort());
  };
  restartIdleTimeout();
  try {
    const response = await platform.download(path, download.bytes, controller.signal);
    if (response.status !== 206) {
      download.chunks = [];
      download.bytes = 0;
    }
    const reader = response.body?.getReader();
    while (reader) {
      const { done, value } = await reader.read();
      if (done) break;
      restartIdleTimeout();
      download.chunks.push(value);
      download.bytes += value.length;
    }
    if (download.bytes < download.size) throw new SyncError("offline");
  } catch (error) {
    throw error instanceof SyncError ? error : new SyncError("offline");
  } finally {
    cancelIdle();
  }
};

/** Downloads a file and stores it in the cache. Retries while progress is made. Throws a SyncError. */
export const fetchAndCacheFile = async (
  context: SyncContext,
  conversation: ConversationId,
  { file, mime, size }: Pick<AttachedBody, "file" | "mime" | "size">,
): Promise<Blob> => {
  const { platform } = context;
  const download: PartialDownload = { chunks: [], bytes: 0, size };
  for (let tries = 0; ; ) {
    const before = download.bytes;
    try {
      await resumeDownload(context, readPath(conversation, file), download);
      break;
    } catch (error) {
      if (download.bytes >= size) break;
      tries = download.bytes > before ? 1 : tries + 1;
      if (!isRetryableFailure(asSyncError(error)) || tries >= maxTriesWithoutProgress) throw error;
      const delay = retryDelayMs(tries, platform.random);
      await new Promise<void>((resolve) => platform.startTimer(delay, resolve));
    }
  }
  const blob = new Blob(download.chunks, { type: mime });
  await saveDownload(context, conversation, file, blob).catch((error: unknown) => {
    if (!isQuotaError(error)) context.reportStoreFailure(error); // without room the file is shown but not cached
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
  const bytes = await toStoredBytes(store, blob);
  await retryOnQuotaError(
    context,
    () =>
      store.transaction("rw", [store.files, store.blobs], async () => {
        await store.blobs.put({ file, blob: bytes });
        await store.files.put(row);
      }),
    false,
  );
  // The group may have been removed from this device during the download.
  if ((await store.conversations.get(conversation))?.gone) await deleteCachedFiles(context, [file]);
  await trimFileCache(context);
};

/** Deletes orphaned blobs and evicts the least recently used files beyond the cache's share of the storage. */
export const trimFileCache = async (context: SyncContext): Promise<void> => {
  const { store, platform } = context;
  await deleteOrphanBlobs(store, platform.now());
  const quota = await platform.estimateQuota().catch(() => undefined);
  await evictCachedFiles(context, Math.min(cacheMaxBytes, (quota ?? Number.POSITIVE_INFINITY) * cacheQuotaShare));
};

/**
 * Deletes blobs that no row names, because their page closed before it wrote the row. Blob ids are time-ordered; only
 * those older than `orphanAgeMs` are deleted.
 */
const deleteOrphanBlobs = (store: LocalStore, now: number): Promise<void> =>
  store.transaction("rw", [store.uploads, store.files, store.blobs, store.postbox, store.meta], async () => {
    const [blobs, ...referenced] = await Promise.all(
      [store.blobs, store.uploads, store.files, store.postbox].map((table) => table.toCollection().primaryKeys()),
    );
    const named = new Set([...referenced.flat(), ...(await store.readDraftFiles())]);
    const isOld = (file: Uuid) => Number.parseInt(file.replace("-", "").slice(0, 12), 16) < now - orphanAgeMs;
    await store.blobs.bulkDelete((blobs ?? []).filter((file) => !named.has(file) && isOld(file)));
  });
