import * as v from "valibot";
import type { ErrorCode } from "#contract/errors.ts";
import { type NewPost, Published } from "#contract/tala.ts";
import type { OperationSender } from "#sync/platform/operation-runner.ts";
import { isRetryableFailure, SyncError } from "#sync/platform/sync-error.ts";
import { ownProfileKey, type PersonRow } from "#sync/store/database.ts";
import type { PostQueueRow, PostRow } from "#sync/store/post-rows.ts";
import { readGiveUpTime } from "#sync/store/retry-policy.ts";
import { readSettings } from "#sync/store/settings-rows.ts";
import { toBlob } from "#sync/store/stored-bytes.ts";
import { retryOnQuotaError, type SyncContext } from "#sync/store/sync-context.ts";
import { feedEtagKey } from "./feed-store.ts";

const postTimeoutMs = 120_000; // a picture over a slow link

/** Publishes queued statuses under their ids, and deletes cancelled ones on the server. */
export const createPostSender = (context: SyncContext): OperationSender<PostQueueRow> => ({
  send: (row) => (row.state === "cancelled" ? deleteOnServer(context, row) : publish(context, row)),
  handleRefusal(row, failure) {
    // Either the status to delete does not exist, or another device deleted the one to publish.
    if (row.state === "cancelled" || failure.code === "post_not_found") return deleteRow(context, row);
    return markFailed(context, row, isRetryableFailure(failure) ? "unavailable" : (failure.code as ErrorCode));
  },
  isTooOld: async ({ createdAt }) => createdAt < (await readGiveUpTime(context)),
});

async function publish(
  context: SyncContext,
  { id, content, picture, audience, attempts }: PostQueueRow,
): Promise<void> {
  const { store, strict, platform } = context;
  // Until the server has the exceptions that the author saw, people excepted by them could read the status.
  const isRestricted = audience !== "everyone" && audience !== "nobody";
  const { statusesTo, exceptions } = isRestricted ? (await readSettings(context)).wanted : {};
  if ((statusesTo ?? exceptions?.statusesTo) !== undefined) throw new SyncError("unavailable");
  const bytes = picture && (await store.blobs.get(id))?.blob;
  if (picture && !bytes) throw new SyncError("file_not_found");
  // From here on the server may have it, so that a cancellation must delete it there too.
  const updated = await strict.postbox
    .where("id")
    .equals(id)
    .filter(({ state }) => state === "queued")
    .modify({ attempts: attempts + 1 });
  if (updated === 0) return; // cancelled at this moment
  const post: NewPost = { id, content, ...(picture ? { picture } : {}), ...(audience ? { audience } : {}) };
  const body = new FormData();
  body.set("post", JSON.stringify(post));
  if (bytes) body.set("picture", toBlob(bytes), "picture");
  const request = { method: "POST", path: "/api/tala", body } as const;
  const answer = await platform.request(request, { isRawBody: true, timeoutMs: postTimeoutMs });
  const parsed = v.safeParse(Published, answer);
  if (!parsed.success) throw new SyncError("internal");
  await handlePublished(context, parsed.output);
}

/** Moves a published status from the queue to the feed in one transaction. One cancelled meanwhile stays queued. */
async function handlePublished(context: SyncContext, { id, number, created_at: at }: Published): Promise<void> {
  const { strict, platform, me } = context;
  const author = (await strict.meta.get(ownProfileKey))?.value as PersonRow | undefined;
  const write = () =>
    strict.transaction("rw", [strict.postbox, strict.posts, strict.blobs, strict.meta], async () => {
      const row = await strict.postbox.get(id);
      if (!row || row.state === "cancelled") return;
      const { content, picture, audience = "everyone" } = row;
      const now = platform.now();
      const { username = "", avatar = null } = author ?? {};
      const restriction = audience === "everyone" ? {} : { audience };
      const post = { number, id, author: me, username, avatar, at, content, picture, ...restriction };
      const feedRow: PostRow = (await strict.posts.get(number)) ?? {
        ...post,
        heardAt: now,
        checkedAt: now,
        loose: 1,
      };
      await strict.posts.put({ ...feedRow, here: 1 });
      await strict.meta.delete(feedEtagKey);
      await strict.postbox.delete(id);
      await strict.blobs.delete(id);
    });
  await retryOnQuotaError(context, write, false);
}

async function deleteOnServer({ strict, platform }: SyncContext, { id }: PostQueueRow): Promise<void> {
  await platform.request({ method: "DELETE", path: `/api/tala/${id}` });
  await strict.postbox.delete(id);
}

/** Marks a status as failed; from then on only its author can retry it. */
const markFailed = ({ strict }: SyncContext, { id }: PostQueueRow, error: ErrorCode): Promise<unknown> =>
  strict.postbox
    .where("id")
    .equals(id)
    .modify((row) => {
      if (row.state === "queued") Object.assign(row, { state: "failed", error });
    });

const deleteRow = ({ strict }: SyncContext, { id }: PostQueueRow): Promise<void> =>
  strict.transaction("rw", [strict.postbox, strict.blobs], async () => {
    await strict.postbox.delete(id);
    await strict.blobs.delete(id);
  });
