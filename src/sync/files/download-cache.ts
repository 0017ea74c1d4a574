import type { AttachedBody } from "#contract/conversations.ts";
import { readPath } from "#contract/files.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import { retryDelayMs } from "#lib/http/backoff.ts";
import { asSyncError, isWorthRetry, SyncError } from "#sync/platform/sync-error.ts";
import { type Context, withRoom } from "#sync/store/context.ts";
import type { Store } from "#sync/store/database.ts";
import { dropFiles, isQuotaError, trimFiles } from "#sync/store/storage-quota.ts";

const cacheMaxBytes = 200 * 1024 * 1024;
const orphanMs = 24 * 3_600_000;
const cacheShare = 0.1; // of what the browser lets this origin keep
const idleMs = 30_000; // a slow network brings something within this
const triesWithoutProgress = 5;

/** What has come of a file; a link that drops takes nothing of it away. */
type Fetched = { pieces: Uint8Array<ArrayBuffer>[]; bytes: number; size: number };

/** Reads on from where it stands until the end; throws a SyncError. */
const readOn = async ({ platform }: Context, path: string, fetched: Fetched): Promise<void> => {
  const controller = new AbortController();
  let cancelIdle = () => {};
  const noteLife = () => {
    cancelIdle();
    cancelIdle = platform.after(idleMs, () => controller.abort());
  };
  noteLife();
  try {
    const response = await platform.open(path, fetched.bytes, controller.signal);
    if (response.status !== 206) Object.assign(fetched, { pieces: [], bytes: 0 });
    const reader = response.body?.getReader();
    while (reader) {
      const { done, value } = await reader.read();
      if (done) break;
      noteLife();
      fetched.pieces.push(value);
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
export const fetchFile = async (
  context: Context,
  conversation: ConversationId,
  { file, mime, size }: Pick<AttachedBody, "file" | "mime" | "size">,
): Promise<Blob> => {
  const { platform } = context;
  const fetched: Fetched = { pieces: [], bytes: 0, size };
  for (let tries = 0; ; ) {
    const before = fetched.bytes;
    try {
      await readOn(context, readPath(conversation, file), fetched);
      break;
    } catch (error) {
      if (fetched.bytes >= size) break;
      tries = fetched.bytes > before ? 1 : tries + 1;
      if (!isWorthRetry(asSyncError(error)) || tries >= triesWithoutProgress) throw error;
      const delay = retryDelayMs(tries, platform.random);
      await new Promise<void>((resolve) => platform.after(delay, resolve));
    }
  }
  const blob = new Blob(fetched.pieces, { type: mime });
  await keepFile(context, conversation, file, blob).catch((error: unknown) => {
    if (!isQuotaError(error)) context.failed(error); // without room it is shown all the same
  });
  return blob;
};

const keepFile = async (context: Context, conversation: ConversationId, file: Uuid, blob: Blob): Promise<void> => {
  const { store, platform } = context;
  const row = { file, size: blob.size, usedAt: platform.now() };
  await withRoom(
    context,
    () =>
      store.transaction("rw", [store.files, store.blobs], async () => {
        await store.blobs.put({ file, blob });
        await store.files.put(row);
      }),
    false,
  );
  // Of a group that went while its file was on the way nothing is kept.
  if ((await store.conversations.get(conversation))?.gone) await dropFiles(store, [file]);
  await boundFiles(context);
};

/** No more than a fair part of the phone is taken by what can be had again. */
export const boundFiles = async ({ store, platform }: Context): Promise<void> => {
  await dropOrphans(store, platform.now());
  const quota = await platform.quota().catch(() => undefined);
  await trimFiles(store, Math.min(cacheMaxBytes, (quota ?? Number.POSITIVE_INFINITY) * cacheShare));
};

/** Bytes of a page that died before it wrote what they are for. Their ids say when they were made. */
const dropOrphans = (store: Store, now: number): Promise<void> =>
  store.transaction("rw", [store.uploads, store.files, store.blobs, store.postbox, store.meta], async () => {
    const [blobs, ...known] = await Promise.all(
      [store.blobs, store.uploads, store.files, store.postbox].map((table) => table.toCollection().primaryKeys()),
    );
    const named = new Set([...known.flat(), ...(await store.chosen())]);
    const isOld = (file: Uuid) => Number.parseInt(file.replace("-", "").slice(0, 12), 16) < now - orphanMs;
    await store.blobs.bulkDelete((blobs ?? []).filter((file) => !named.has(file) && isOld(file)));
  });
