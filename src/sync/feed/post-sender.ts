import * as v from "valibot";
import type { ErrorCode } from "#contract/errors.ts";
import { type NewPost, Published } from "#contract/tala.ts";
import { isQuotaError } from "#sync/platform/database-errors.ts";
import type { OperationSender } from "#sync/platform/operation-runner.ts";
import { isRetryableFailure, SyncError } from "#sync/platform/sync-error.ts";
import { ownProfileKey, type PersonRow } from "#sync/store/database.ts";
import type { PostRow } from "#sync/store/post-rows.ts";
import { readGiveUpTime } from "#sync/store/retry-policy.ts";
import { readSettings } from "#sync/store/settings-rows.ts";

import { commitUnsent, retryOnQuotaError, type SyncContext } from "#sync/store/sync-context.ts";
import { listPublished } from "#sync/store/unpublished-posts.ts";
import type { PostQueueRow } from "#sync/unsent/post-queue-row.ts";
import { changePost } from "#sync/unsent/queued-posts.ts";
import { toRemoval } from "#sync/unsent/unsent-state.ts";
import { feedEtagKey, markPostDeleted } from "./feed-store.ts";

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

async function publish(context: SyncContext, { id, content, picture, audience }: PostQueueRow): Promise<void> {
  const { store, unsent, platform } = context;
  // An earlier page has published it, and ended before it left the queue.
  if ((await listPublished(store, [id])).size > 0) return deleteRow(context, { id });
  // Until the server has the exceptions that the author saw, people excepted by them could read the status.
  const isRestricted = audience !== "everyone" && audience !== "nobody";
  const { statusesTo, exceptions } = isRestricted ? (await readSettings(context)).wanted : {};
  if ((statusesTo ?? exceptions?.statusesTo) !== undefined) throw new SyncError("unavailable");
  const bytes = picture && (await unsent.bytes.get(id));
  if (picture && !bytes) throw new SyncError("file_not_found");
  // From here on the server may have it, so that a cancellation must delete it there too.
  const count = changePost(id, platform.now(), (row) =>
    row.state === "queued" ? { ...row, attempts: row.attempts + 1 } : row,
  );
  await commitUnsent(context, [count]);
  if (unsent.find("posts", id)?.state !== "queued") return; // cancelled at this moment
  const post: NewPost = { id, content, ...(picture ? { picture } : {}), ...(audience ? { audience } : {}) };
  const body = new FormData();
  body.set("post", JSON.stringify(post));
  if (bytes) body.set("picture", bytes, "picture");
  const request = { method: "POST", path: "/api/tala", body } as const;
  const answer = await platform.request(request, { isRawBody: true, timeoutMs: postTimeoutMs });
  const parsed = v.safeParse(Published, answer);
  if (!parsed.success) throw new SyncError("internal");
  await handlePublished(context, parsed.output);
}

/**
 * Stores a published status in the feed, then deletes it from the queue. One cancelled meanwhile stays in the queue. A feed that cannot be stored is fetched later.
 */
async function handlePublished(context: SyncContext, published: Published): Promise<void> {
  const { store, unsent, platform } = context;
  const { id } = published;
  const row = unsent.find("posts", id);
  if (!row || row.state === "cancelled") return;
  await retryOnQuotaError(context, () => storeInFeed(context, published, row), false).catch((error: unknown) => {
    if (!isQuotaError(error)) context.reportStoreFailure(error);
  });
  await commitUnsent(context, [changePost(id, platform.now(), (now) => (now.state === "cancelled" ? now : undefined))]);
  if (unsent.find("posts", id)) await markPostDeleted(store, id, platform.now());
}

const storeInFeed = async (
  { store, platform, me }: SyncContext,
  { id, number, created_at: at }: Published,
  { content, picture, audience = "everyone" }: PostQueueRow,
): Promise<void> => {
  const { username = "", avatar = null } = ((await store.meta.get(ownProfileKey))?.value ?? {}) as Partial<PersonRow>;
  await store.transaction("rw", [store.posts, store.meta], async () => {
    const now = platform.now();
    const restriction = audience === "everyone" ? {} : { audience };
    const post = { number, id, author: me, username, avatar, at, content, picture, ...restriction };
    const feedRow: PostRow = (await store.posts.get(number)) ?? { ...post, heardAt: now, checkedAt: now, loose: 1 };
    await store.posts.put({ ...feedRow, here: 1 });
    await store.meta.delete(feedEtagKey);
  });
};

async function deleteOnServer(context: SyncContext, { id }: PostQueueRow): Promise<void> {
  const { store, platform } = context;
  await platform.request({ method: "DELETE", path: `/api/tala/${id}` });
  await markPostDeleted(store, id, platform.now()); // it may have been published before it was cancelled
  await deleteRow(context, { id });
}

/** Marks a status as failed; from then on only its author can retry it. */
const markFailed = (context: SyncContext, { id }: PostQueueRow, error: ErrorCode): Promise<void> =>
  commitUnsent(context, [
    changePost(id, context.platform.now(), (row) =>
      row.state === "queued" ? { ...row, state: "failed", error } : row,
    ),
  ]);

const deleteRow = (context: SyncContext, { id }: Pick<PostQueueRow, "id">): Promise<void> =>
  commitUnsent(context, [toRemoval("posts", id)]);
