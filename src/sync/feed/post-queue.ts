import * as v from "valibot";
import { isErrorCode } from "#contract/errors.ts";
import { createUuid, type Uuid } from "#contract/ids.ts";
import { pictureMaxBytes } from "#contract/limits/tala.ts";
import type { Audience, Exceptions } from "#contract/settings/settings.ts";
import { cleanPost, NewPost, type PostPicture } from "#contract/tala.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import type { LocalStore } from "#sync/store/database.ts";
import { mergeExceptionList } from "#sync/store/exception-list.ts";
import { applyChange, readSettings } from "#sync/store/settings-rows.ts";
import { commitUnsent, type SyncContext } from "#sync/store/sync-context.ts";
import { readSyncCursor } from "#sync/store/sync-cursor.ts";
import { requireContext, type SyncPort } from "#sync/store/sync-port.ts";
import { listPublished, listUnpublishedPosts } from "#sync/store/unpublished-posts.ts";
import { waitForStore } from "#sync/store/wait-for-store.ts";
import { putAttachmentDraft } from "#sync/unsent/attachment-drafts.ts";
import type { OwnedDraft } from "#sync/unsent/attachment-rows.ts";
import { changedSettings, type Operation } from "#sync/unsent/operations.ts";
import type { PostQueueRow } from "#sync/unsent/post-queue-row.ts";
import { changePost, nextPostTime } from "#sync/unsent/queued-posts.ts";
import { toTimedChange } from "#sync/unsent/unsent-state.ts";
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

/**
 * Queues a status in place of its draft. Without an audience the server applies the setting. Resolves to its id once it
 * is durable, or once that has failed: then it is published from memory. Rejects with a SyncError if it cannot be a
 * status, "no_room" if the device has no room for its picture.
 */
export const enqueuePost = async (
  port: SyncPort,
  text: string,
  picture: OutgoingPicture | undefined,
  audience: Audience | undefined,
  draft?: OwnedDraft,
): Promise<Uuid> => {
  const context = requireContext(port);
  const { store, unsent, platform } = context;
  const at = platform.now();
  const id = createUuid(at);
  const pictureInfo = picture && { width: picture.width, height: picture.height, thumb: picture.thumb };
  const { content } = parseNewPost({ id, content: cleanPost(text), ...(pictureInfo ? { picture: pictureInfo } : {}) });
  const blob = picture && getPictureBlob(picture);
  const { skew } = await readSyncCursor(store);
  if (blob)
    await unsent.bytes.put(id, blob).catch(() => {
      throw new SyncError("no_room");
    });
  const createdAt = nextPostTime(unsent, at + skew);
  const post = { id, content, picture: pictureInfo ?? null, ...(audience && { audience }), createdAt };
  await commitUnsent(context, [
    toTimedChange("posts", id, at, () => ({ ...post, state: "queued", attempts: 0 })),
    ...(draft ? [putAttachmentDraft(draft, undefined, at)] : []),
  ]);
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

/** Queues a failed status again under the same id, together with the exceptions that the server refused. */
export const requeuePost = async (port: SyncPort, id: Uuid): Promise<void> => {
  const context = requireContext(port);
  const { store, unsent, platform } = context;
  const now = platform.now();
  const createdAt = nextPostTime(unsent, now + (await readSyncCursor(store)).skew);
  const { kept } = await readSettings(context);
  const { state, excepted } = unsent.find("posts", id) ?? {};
  const requeue = changePost(id, now, (row) => {
    if (row.state !== "failed") return row;
    const { error: _, excepted: __, ...rest } = row;
    return { ...rest, state: "queued", createdAt };
  });
  const restore =
    state === "failed" && excepted
      ? changedSettings.update({}, now, (row) =>
          restoreExceptions(row ?? { wanted: {} }, kept?.settings.exceptions, excepted),
        )
      : undefined;
  await commitUnsent(context, restore ? [restore, requeue] : [requeue]);
  port.notifyChanged("outbox");
};

/**
 * Cancels a queued status. One that the server may have received is deleted there later. One that was published at this
 * moment is deleted for everyone now, which may reject with a SyncError.
 */
export const cancelPost = async (port: SyncPort, id: Uuid): Promise<void> => {
  const context = requireContext(port);
  const { store, unsent, platform } = context;
  const now = platform.now();
  const cancel = changePost(id, now, (row) => (row.attempts === 0 ? undefined : { ...row, state: "cancelled" }));
  const wasQueued = unsent.find("posts", id) !== undefined;
  await commitUnsent(context, [cancel]);
  port.notifyChanged("outbox");
  if ((await listPublished(store, [id])).size === 0) return;
  if (wasQueued && unsent.find("posts", id)) await deletePostLocally(context, id);
  else await deletePostOnServer(port, id);
};

/** Deletes a published status for everyone. Rejects with a SyncError. */
export const deletePostOnServer = async (port: SyncPort, id: Uuid): Promise<void> => {
  const context = requireContext(port);
  await context.platform.request({ method: "DELETE", path: `/api/tala/${id}` });
  await deletePostLocally(context, id);
};

export type PostOutcome = "published" | "failed" | "takenBack" | "waiting";

/** Current outcome of a status that was queued on this device a moment ago. */
export const readPostOutcome = async (
  { store, unsent }: Pick<SyncContext, "store" | "unsent">,
  id: Uuid,
): Promise<PostOutcome> => {
  const row = unsent.find("posts", id);
  if (row?.state === "cancelled") return "takenBack";
  if ((await listPublished(store, [id])).size > 0) return "published";
  if (row) return row.state === "failed" ? "failed" : "waiting";
  return "takenBack";
};

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
  const { platform, context, unsent } = port;
  const startedAt = platform.now();
  const isDecided = async (store: LocalStore) => (await readPostOutcome({ store, unsent }, id)) !== "waiting";
  for (;;) {
    const leftMs = startedAt + getOutcomeTimeoutMs(port) - platform.now();
    if (leftMs > 0 && !(await waitForStore(port, isDecided, Math.min(leftMs, networkCheckMs)))) continue;
    const store = context.get()?.store;
    return store ? readPostOutcome({ store, unsent }, id) : "waiting";
  }
};

export type PendingPost = PostQueueRow & { blob: Blob | undefined };

/** Queued and failed statuses with their pictures, newest first. */
export const listPendingPosts = async (context: Pick<SyncContext, "store" | "unsent">): Promise<PendingPost[]> => {
  const { bytes } = context.unsent;
  const rows = await listUnpublishedPosts(context);
  // Without its picture a status is shown all the same.
  const readPicture = ({ id, picture }: PostQueueRow) => (picture ? bytes.get(id).catch(() => undefined) : undefined);
  return Promise.all(rows.reverse().map(async (row) => ({ ...row, blob: await readPicture(row) })));
};
