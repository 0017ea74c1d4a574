import * as v from "valibot";
import { isErrorCode } from "#contract/errors.ts";
import { createUuid, type Uuid } from "#contract/ids.ts";
import { pictureMaxBytes } from "#contract/limits/tala.ts";
import type { Audience, Exceptions } from "#contract/settings/settings.ts";
import { cleanPost, NewPost, type PostPicture } from "#contract/tala.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import type { LocalStore } from "#sync/store/database.ts";
import type { DraftSlot } from "#sync/store/pending/draft-keys.ts";
import type { PostQueueRow } from "#sync/store/post-rows.ts";
import { applyChange, mergeExceptionList, readSettings } from "#sync/store/settings-rows.ts";
import { isQuotaError } from "#sync/store/storage-quota.ts";
import { toBlob, toStoredBytes } from "#sync/store/stored-bytes.ts";
import { commitUnsent, retryOnQuotaError, type SyncContext } from "#sync/store/sync-context.ts";
import { readSyncCursor } from "#sync/store/sync-cursor.ts";
import { requireContext, type SyncPort } from "#sync/store/sync-port.ts";
import { waitForStore } from "#sync/store/wait-for-store.ts";
import { changedSettings, type Operation } from "#sync/unsent/operations.ts";
import { deletePostLocally } from "./post-pictures.ts";

/** Queue of Tala statuses that the server has not acknowledged. */

export type OutgoingPicture = { blob: Blob } & PostPicture;

const parseNewPost = (post: NewPost): NewPost => {
  const parsed = v.safeParse(NewPost, post);
  if (parsed.success) return parsed.output;
  const code = parsed.issues[0].message;
  throw new SyncError(isErrorCode(code) ? code : "invalid_text");
};

const getPictureBlob = ({ blob }: OutgoingPicture): Blob => {
  if (blob.size > pictureMaxBytes) throw new SyncError("file_too_large");
  return blob;
};

/** Creation time after all queued statuses. Keeps their order even if the device's clock was corrected meanwhile. */
const nextPostTime = async ({ strict, platform }: SyncContext): Promise<number> => {
  const last = await strict.postbox.orderBy("createdAt").last();
  const now = platform.now() + (await readSyncCursor(strict)).skew;
  return last ? Math.max(now, last.createdAt + 1) : now;
};

/**
 * Queues a status and deletes its draft. Without an audience the server applies the setting. Resolves to its id once it
 * is durable; rejects with a SyncError if it is not stored.
 */
export const enqueuePost = async (
  port: SyncPort,
  text: string,
  picture: OutgoingPicture | undefined,
  audience: Audience | undefined,
  draft?: DraftSlot,
): Promise<Uuid> => {
  const context = requireContext(port);
  const { strict } = context;
  const id = createUuid(port.platform.now());
  const pictureInfo = picture && { width: picture.width, height: picture.height, thumb: picture.thumb };
  const { content } = parseNewPost({ id, content: cleanPost(text), ...(pictureInfo ? { picture: pictureInfo } : {}) });
  const blob = picture && (await toStoredBytes(strict, getPictureBlob(picture)));
  const write = () =>
    strict.transaction("rw", [strict.postbox, strict.blobs, strict.meta], async () => {
      const createdAt = await nextPostTime(context);
      if (blob) await strict.blobs.put({ file: id, blob });
      const row = { id, content, picture: pictureInfo ?? null, ...(audience && { audience }), createdAt };
      await strict.postbox.add({ ...row, state: "queued", attempts: 0 });
      if (draft) await strict.meta.delete(draft.key);
    });
  await retryOnQuotaError(context, write, false).catch((error: unknown) => {
    throw new SyncError(isQuotaError(error) ? "no_room" : "unavailable");
  });
  port.notifyChanged("outbox");
  return id;
};

/** Adds a refused change of the exceptions for statuses to the changes that wait to be sent. */
const restoreExceptions = (
  row: Pick<Operation<"settings">, "wanted" | "excepted">,
  exceptions: Partial<Exceptions> | undefined,
  { before, wanted }: NonNullable<PostQueueRow["excepted"]>,
): Pick<Operation<"settings">, "wanted" | "excepted"> => {
  const pending = row.wanted.exceptions?.statusesTo;
  const list = mergeExceptionList(before, wanted, pending ?? before);
  const known = row.wanted.exceptions ? row.excepted : exceptions;
  return {
    wanted: applyChange(row.wanted, { exceptions: { statusesTo: list } }),
    excepted: { ...known, ...(pending ? {} : { statusesTo: before }) },
  };
};

/** Queues a failed status again under the same id, and before it the exceptions that the server refused. */
export const requeuePost = async (port: SyncPort, id: Uuid): Promise<void> => {
  const context = requireContext(port);
  const { strict, platform } = context;
  const failed = await strict.postbox.get(id);
  if (failed?.state === "failed" && failed.excepted) {
    const { excepted } = failed;
    const { kept } = await readSettings(context);
    const restore = changedSettings.update({}, platform.now(), (row) =>
      restoreExceptions(row ?? { wanted: {} }, kept?.settings.exceptions, excepted),
    );
    await commitUnsent(context, [restore]); // first: the status waits for it
  }
  await strict.transaction("rw", [strict.postbox, strict.meta], async () => {
    const row = await strict.postbox.get(id);
    if (row?.state !== "failed") return;
    const { error: _, excepted: __, ...rest } = row;
    await strict.postbox.put({ ...rest, state: "queued", createdAt: await nextPostTime(context) });
  });
  port.notifyChanged("outbox");
};

/**
 * Cancels a queued status. One that the server may have received is deleted there later. One that was published at this
 * moment is deleted for everyone now, which may reject with a SyncError.
 */
export const cancelPost = async (port: SyncPort, id: Uuid): Promise<void> => {
  const { strict } = requireContext(port);
  const wasQueued = await strict.transaction("rw", [strict.postbox, strict.blobs], async () => {
    const row = await strict.postbox.get(id);
    if (!row) return false;
    await strict.blobs.delete(id);
    if (row.attempts === 0) await strict.postbox.delete(id);
    else await strict.postbox.update(id, { state: "cancelled" });
    return true;
  });
  port.notifyChanged("outbox");
  if (!wasQueued && (await readPostOutcome(strict, id)) === "published") await deletePostOnServer(port, id);
};

/** Deletes a published status for everyone. Rejects with a SyncError. */
export const deletePostOnServer = async (port: SyncPort, id: Uuid): Promise<void> => {
  const context = requireContext(port);
  await context.platform.request({ method: "DELETE", path: `/api/tala/${id}` });
  await deletePostLocally(context, id);
};

export type PostOutcome = "published" | "failed" | "takenBack" | "waiting";

/** Current outcome of a status that was queued on this device a moment ago. */
export const readPostOutcome = (store: LocalStore, id: Uuid): Promise<PostOutcome> =>
  store.transaction("r", [store.postbox, store.posts], async () => {
    const row = await store.postbox.get(id);
    if (row?.state === "failed") return "failed";
    if (row?.state === "cancelled") return "takenBack";
    if (row) return "waiting";
    // Publishing moves it from the queue to the feed in one transaction.
    return (await store.posts.where("id").equals(id).count()) > 0 ? "published" : "takenBack";
  });

const networkCheckMs = 250;
const outcomeTimeoutMs = 8_000;
const connectingTimeoutMs = 1_000; // without a socket a longer wait rarely helps

/** Longest useful wait for an outcome in the current state of the connection. */
const getOutcomeTimeoutMs = ({ platform, link }: SyncPort): number => {
  if (!platform.isOnline() || link.get() === "offline") return 0;
  return link.get() === "online" ? outcomeTimeoutMs : connectingTimeoutMs;
};

/** Waits some seconds for the outcome of a status. Resolves to "waiting" after them, or at once without a network. */
export const waitForPostOutcome = async (port: SyncPort, id: Uuid): Promise<PostOutcome> => {
  const { platform, context } = port;
  const startedAt = platform.now();
  const isDecided = async (store: LocalStore) => (await readPostOutcome(store, id)) !== "waiting";
  for (;;) {
    const leftMs = startedAt + getOutcomeTimeoutMs(port) - platform.now();
    if (leftMs > 0 && !(await waitForStore(port, isDecided, Math.min(leftMs, networkCheckMs)))) continue;
    const store = context.get()?.store;
    return store ? readPostOutcome(store, id) : "waiting";
  }
};

export type PendingPost = PostQueueRow & { blob: Blob | undefined };

/** Queued and failed statuses with their pictures, newest first. */
export const listPendingPosts = ({ store }: SyncContext): Promise<PendingPost[]> =>
  store.transaction("r", [store.postbox, store.blobs], async () => {
    const rows = (await store.postbox.orderBy("createdAt").reverse().toArray()).filter(
      ({ state }) => state !== "cancelled",
    );
    const blobs = await store.blobs.bulkGet(rows.map(({ id }) => id));
    return rows.map((row, index) => {
      const bytes = blobs[index]?.blob;
      return { ...row, blob: bytes && toBlob(bytes) };
    });
  });
