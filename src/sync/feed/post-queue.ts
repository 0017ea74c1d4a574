import * as v from "valibot";
import { isErrorCode } from "#contract/errors.ts";
import { createUuid, type Uuid } from "#contract/ids.ts";
import { pictureMaxBytes } from "#contract/limits.ts";
import { cleanPost, NewPost, type PostPicture } from "#contract/tala.ts";
import { getContext } from "#sync/outbox/enqueue.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import { type Context, withRoom } from "#sync/store/context.ts";
import type { KeptChoice, PostboxRow, Store } from "#sync/store/database.ts";
import { isQuotaError } from "#sync/store/storage-quota.ts";
import { readCursor } from "#sync/store/sync-cursor.ts";
import type { Tab } from "#sync/tabs/tab.ts";
import { forgetPost } from "./post-pictures.ts";

/** Statuses from where a person wrote them to where the poster finds them. */

export type OutgoingPicture = { blob: Blob } & PostPicture;

const toPost = (post: NewPost): NewPost => {
  const parsed = v.safeParse(NewPost, post);
  if (parsed.success) return parsed.output;
  const code = parsed.issues[0].message;
  throw new SyncError(isErrorCode(code) ? code : "invalid_text");
};

const toBlob = ({ blob }: OutgoingPicture): Blob => {
  if (blob.size > pictureMaxBytes) throw new SyncError("file_too_large");
  return blob;
};

/** After all that waits: the clock may have been put right since, and what was written first goes first all the same. */
const nextMoment = async ({ strict, platform }: Context): Promise<number> => {
  const last = await strict.postbox.orderBy("createdAt").last();
  const now = platform.now() + (await readCursor(strict)).skew;
  return last ? Math.max(now, last.createdAt + 1) : now;
};

/**
 * Resolves with its id once the status is durably here, and what was kept of writing it is forgotten; rejects with a
 * SyncError when it is nowhere.
 */
export const publish = async (
  tab: Tab,
  text: string,
  picture: OutgoingPicture | undefined,
  kept?: KeptChoice,
): Promise<Uuid> => {
  const context = getContext(tab);
  const { strict } = context;
  const id = createUuid(tab.platform.now());
  const shown = picture && { width: picture.width, height: picture.height, thumb: picture.thumb };
  const { content } = toPost({ id, content: cleanPost(text), ...(shown ? { picture: shown } : {}) });
  const blob = picture && toBlob(picture);
  const write = () =>
    strict.transaction("rw", [strict.postbox, strict.blobs, strict.meta], async () => {
      const createdAt = await nextMoment(context);
      if (blob) await strict.blobs.put({ file: id, blob });
      await strict.postbox.add({ id, content, picture: shown ?? null, createdAt, state: "queued", attempts: 0 });
      if (kept) await strict.meta.delete(kept.key);
    });
  await withRoom(context, write, false).catch((error: unknown) => {
    throw new SyncError(isQuotaError(error) ? "no_room" : "unavailable");
  });
  tab.written();
  return id;
};

/** Sends a refused status again, under its own id. */
export const retryPost = async (tab: Tab, id: Uuid): Promise<void> => {
  const context = getContext(tab);
  const { strict } = context;
  await strict.transaction("rw", [strict.postbox, strict.meta], async () => {
    const row = await strict.postbox.get(id);
    if (row?.state !== "failed") return;
    const { error: _, ...again } = row;
    await strict.postbox.put({ ...again, state: "queued", createdAt: await nextMoment(context) });
  });
  tab.written();
};

/**
 * Takes back a status that waits. What the server may have heard of, it is told to delete; one that was published in
 * this moment is deleted for everybody, which throws a SyncError.
 */
export const takeBack = async (tab: Tab, id: Uuid): Promise<void> => {
  const { strict } = getContext(tab);
  const hasWaited = await strict.transaction("rw", [strict.postbox, strict.blobs], async () => {
    const row = await strict.postbox.get(id);
    if (!row) return false;
    await strict.blobs.delete(id);
    if (row.attempts === 0) await strict.postbox.delete(id);
    else await strict.postbox.update(id, { state: "cancelled" });
    return true;
  });
  tab.written();
  if (!hasWaited && (await readOutcome(strict, id)) === "published") await unpublish(tab, id);
};

/** Deletes a published status for everybody; throws a SyncError. */
export const unpublish = async (tab: Tab, id: Uuid): Promise<void> => {
  const context = getContext(tab);
  await context.platform.request({ method: "DELETE", path: `/api/tala/${id}` });
  await forgetPost(context, id);
};

export type Outcome = "published" | "failed" | "takenBack" | "waiting";

/** How it stands with a status that was written here a moment ago. */
export const readOutcome = (store: Store, id: Uuid): Promise<Outcome> =>
  store.transaction("r", [store.postbox, store.posts], async () => {
    const row = await store.postbox.get(id);
    if (row?.state === "failed") return "failed";
    if (row?.state === "cancelled") return "takenBack";
    if (row) return "waiting";
    // It enters the feed in the moment it leaves the postbox.
    return (await store.posts.where("id").equals(id).count()) > 0 ? "published" : "takenBack";
  });

const outcomeLookMs = 100;
const patienceMs = 8_000;
const connectingMs = 1_000; // without the socket it is not worth more

/** How long it is worth waiting for the server, as things stand. */
const worthMs = ({ platform, link }: Tab): number => {
  if (!platform.isOnline() || link.get() === "offline") return 0;
  return link.get() === "online" ? patienceMs : connectingMs;
};

/** What becomes of a status within some seconds: "waiting" when nothing did, and at once where there is no network. */
export const awaitOutcome = async (tab: Tab, id: Uuid): Promise<Outcome> => {
  const { platform, context } = tab;
  const begun = platform.now();
  for (;;) {
    const store = context.get()?.store;
    const outcome = store && (await readOutcome(store, id));
    if (outcome !== undefined && outcome !== "waiting") return outcome;
    if (platform.now() - begun >= worthMs(tab)) return "waiting";
    await new Promise<void>((resolve) => platform.after(outcomeLookMs, resolve));
  }
};

export type WaitingPost = PostboxRow & { blob: Blob | undefined };

/** What waits, the newest first, with its picture. */
export const readPostbox = ({ store }: Context): Promise<WaitingPost[]> =>
  store.transaction("r", [store.postbox, store.blobs], async () => {
    const rows = (await store.postbox.orderBy("createdAt").reverse().toArray()).filter(
      ({ state }) => state !== "cancelled",
    );
    const blobs = await store.blobs.bulkGet(rows.map(({ id }) => id));
    return rows.map((row, index) => ({ ...row, blob: blobs[index]?.blob }));
  });
