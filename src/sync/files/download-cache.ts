import { readPath } from "#contract/files.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import { dayMs } from "#contract/limits/durations.ts";
import type { AttachedBody } from "#contract/messages/body.ts";
import { retryDelayMs } from "#lib/http/backoff.ts";
import { isQuotaError } from "#sync/platform/database-errors.ts";
import { asSyncError, isRetryableFailure, SyncError } from "#sync/platform/sync-error.ts";
import { deleteCachedFiles, evictCachedFiles } from "#sync/store/storage-quota.ts";
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
  await putCachedFile(context, file, blob);
  // The group may have been removed from this device during the download.
  if ((await context.store.conversations.get(conversation))?.gone) await deleteCachedFiles(context, [file]);
  await trimFileCache(context);
};

/** Stores a file in the cache. Rejects if the device has no room for it. */
const putCachedFile = async (context: SyncContext, file: Uuid, blob: Blob): Promise<void> => {
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
};

/** Copies a file that was sent to the cache, so that it is not downloaded to be shown. Without room it is not copied. */
export const cacheSentFile = (context: SyncContext, file: Uuid, blob: Blob): Promise<void> =>
  putCachedFile(context, file, blob).catch((error: unknown) => console.warn("a sent file is not cached", error));

/** Deletes orphaned bytes and evicts the least recently used files beyond the cache's share of the storage. */
export const trimFileCache = async (context: SyncContext): Promise<void> => {
  const { platform, unsent } = context;
  await unsent.bytes.deleteOrphans(platform.now() - orphanAgeMs).catch(() => undefined); // tried again after the next file
  const quota = await platform.estimateQuota().catch(() => undefined);
  await evictCachedFiles(context, Math.min(cacheMaxBytes, (quota ?? Number.POSITIVE_INFINITY) * cacheQuotaShare));
};
