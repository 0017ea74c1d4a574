import * as v from "valibot";
import { isErrorCode } from "#contract/errors.ts";
import { createUuid, type Uuid } from "#contract/ids.ts";
import { pictureMaxBytes } from "#contract/limits.ts";
import { cleanPost, NewPost, type PostPicture } from "#contract/tala.ts";
import { getContext } from "#sync/outbox/enqueue.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import type { DraftSlot, LocalStore, PostQueueRow } from "#sync/store/database.ts";
import { isQuotaError } from "#sync/store/storage-quota.ts";
import { retryOnQuotaError, type SyncContext } from "#sync/store/sync-context.ts";
import { readSyncCursor } from "#sync/store/sync-cursor.ts";
import type { Tab } from "#sync/tabs/tab.ts";
import { removePost } from "./post-pictures.ts";

/** Statuses from where a person wrote them to where the poster finds them. */

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

/** After all that waits: the clock may have been put right since, and what was written first goes first all the same. */
const nextPostTime = async ({ strict, platform }: SyncContext): Promise<number> => {
  const last = await strict.postbox.orderBy("createdAt").last();
  const now = platform.now() + (await readSyncCursor(strict)).skew;
  return last ? Math.max(now, last.createdAt + 1) : now;
};

/**
 * Resolves with its id once the status is durably here, and what was kept of writing it is forgotten; rejects with a
 * SyncError when it is nowhere.
 */
export const enqueuePost = async (
  tab: Tab,
  text: string,
  picture: OutgoingPicture | undefined,
  kept?: DraftSlot,
): Promise<Uuid> => {
  const context = getContext(tab);
  const { strict } = context;
  const id = createUuid(tab.platform.now());
  const shown = picture && { width: picture.width, height: picture.height, thumb: picture.thumb };
  const { content } = parseNewPost({ id, content: cleanPost(text), ...(shown ? { picture: shown } : {}) });
  const blob = picture && getPictureBlob(picture);
  const write = () =>
    strict.transaction("rw", [strict.postbox, strict.blobs, strict.meta], async () => {
      const createdAt = await nextPostTime(context);
      if (blob) await strict.blobs.put({ file: id, blob });
      await strict.postbox.add({ id, content, picture: shown ?? null, createdAt, state: "queued", attempts: 0 });
      if (kept) await strict.meta.delete(kept.key);
    });
  await retryOnQuotaError(context, write, false).catch((error: unknown) => {
    throw new SyncError(isQuotaError(error) ? "no_room" : "unavailable");
  });
  tab.notifyOutboxChanged();
  return id;
};

/** Sends a refused status again, under its own id. */
export const requeuePost = async (tab: Tab, id: Uuid): Promise<void> => {
  const context = getContext(tab);
  const { strict } = context;
  await strict.transaction("rw", [strict.postbox, strict.meta], async () => {
    const row = await strict.postbox.get(id);
    if (row?.state !== "failed") return;
    const { error: _, ...again } = row;
    await strict.postbox.put({ ...again, state: "queued", createdAt: await nextPostTime(context) });
  });
  tab.notifyOutboxChanged();
};

/**
 * Takes back a status that waits. What the server may have heard of, it is told to delete; one that was published in
 * this moment is deleted for everybody, which throws a SyncError.
 */
export const cancelPost = async (tab: Tab, id: Uuid): Promise<void> => {
  const { strict } = getContext(tab);
  const hasWaited = await strict.transaction("rw", [strict.postbox, strict.blobs], async () => {
    const row = await strict.postbox.get(id);
    if (!row) return false;
    await strict.blobs.delete(id);
    if (row.attempts === 0) await strict.postbox.delete(id);
    else await strict.postbox.update(id, { state: "cancelled" });
    return true;
  });
  tab.notifyOutboxChanged();
  if (!hasWaited && (await readPostOutcome(strict, id)) === "published") await deletePostOnServer(tab, id);
};

/** Deletes a published status for everybody; throws a SyncError. */
export const deletePostOnServer = async (tab: Tab, id: Uuid): Promise<void> => {
  const context = getContext(tab);
  await context.platform.request({ method: "DELETE", path: `/api/tala/${id}` });
  await removePost(context, id);
};

export type PostOutcome = "published" | "failed" | "takenBack" | "waiting";

/** How it stands with a status that was written here a moment ago. */
export const readPostOutcome = (store: LocalStore, id: Uuid): Promise<PostOutcome> =>
  store.transaction("r", [store.postbox, store.posts], async () => {
    const row = await store.postbox.get(id);
    if (row?.state === "failed") return "failed";
    if (row?.state === "cancelled") return "takenBack";
    if (row) return "waiting";
    // It enters the feed in the moment it leaves the postbox.
    return (await store.posts.where("id").equals(id).count()) > 0 ? "published" : "takenBack";
  });

const outcomePollMs = 100;
const outcomeTimeoutMs = 8_000;
const connectingTimeoutMs = 1_000; // without the socket it is not worth more

/** How long it is worth waiting for the server, as things stand. */
const getOutcomeTimeoutMs = ({ platform, link }: Tab): number => {
  if (!platform.isOnline() || link.get() === "offline") return 0;
  return link.get() === "online" ? outcomeTimeoutMs : connectingTimeoutMs;
};

/** What becomes of a status within some seconds: "waiting" when nothing did, and at once where there is no network. */
export const waitForPostOutcome = async (tab: Tab, id: Uuid): Promise<PostOutcome> => {
  const { platform, context } = tab;
  const begun = platform.now();
  for (;;) {
    const store = context.get()?.store;
    const outcome = store && (await readPostOutcome(store, id));
    if (outcome !== undefined && outcome !== "waiting") return outcome;
    if (platform.now() - begun >= getOutcomeTimeoutMs(tab)) return "waiting";
    await new Promise<void>((resolve) => platform.startTimer(outcomePollMs, resolve));
  }
};

export type PendingPost = PostQueueRow & { blob: Blob | undefined };

/** What waits, the newest first, with its picture. */
export const listPendingPosts = ({ store }: SyncContext): Promise<PendingPost[]> =>
  store.transaction("r", [store.postbox, store.blobs], async () => {
    const rows = (await store.postbox.orderBy("createdAt").reverse().toArray()).filter(
      ({ state }) => state !== "cancelled",
    );
    const blobs = await store.blobs.bulkGet(rows.map(({ id }) => id));
    return rows.map((row, index) => ({ ...row, blob: blobs[index]?.blob }));
  });
