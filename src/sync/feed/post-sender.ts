import * as v from "valibot";
import type { ErrorCode } from "#contract/errors.ts";
import { type NewPost, Published } from "#contract/tala.ts";
import { Retry } from "#sync/platform/retry.ts";
import { asSyncError, isRetryableFailure, SyncError } from "#sync/platform/sync-error.ts";
import { ownProfileKey, type PersonRow, type PostQueueRow, type PostRow } from "#sync/store/database.ts";
import { readGiveUpTime } from "#sync/store/retry-policy.ts";
import { retryOnQuotaError, type SyncContext } from "#sync/store/sync-context.ts";
import { feedEtagKey } from "./feed-store.ts";

const postTimeoutMs = 120_000; // a picture over a slow link

/**
 * Sends queued statuses to the server, one at a time in the order they were written. Each is repeated under the same id
 * until the server stores it or refuses it for good. Cancelled statuses are deleted on the server.
 */
export class PostSender {
  readonly #context: SyncContext;
  readonly #scheduler: Retry;
  #cancelPause: (() => void) | undefined;
  #isStopped = false;

  constructor(context: SyncContext) {
    this.#context = context;
    this.#scheduler = new Retry(context.platform, () => this.#sendNext());
  }

  schedule(): void {
    if (!this.#cancelPause) this.#scheduler.schedule();
  }

  /** Sends at once, without waiting for back-off, because the server became reachable. */
  runNow(): void {
    this.#cancelPause?.();
    this.#cancelPause = undefined;
    this.#scheduler.runNow();
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancelPause?.();
    this.#scheduler.stop();
  }

  async #sendNext(): Promise<"done" | "again" | "retry"> {
    if (this.#cancelPause) return "done";
    const row = await this.#context.store.postbox
      .orderBy("createdAt")
      .filter(({ state }) => state !== "failed")
      .first();
    if (!row || this.#isStopped) return "done";
    try {
      await (row.state === "cancelled" ? this.#deleteOnServer(row) : this.#publish(row));
      return "again";
    } catch (error) {
      return this.#handleFailure(row, asSyncError(error));
    }
  }

  async #publish({ id, content, picture, attempts }: PostQueueRow): Promise<void> {
    const { store, strict, platform } = this.#context;
    const blob = picture && (await store.blobs.get(id))?.blob;
    if (picture && !blob) throw new SyncError("file_not_found");
    // From here on the server may have it, so that a cancellation must delete it there too.
    const updated = await strict.postbox
      .where("id")
      .equals(id)
      .filter(({ state }) => state === "queued")
      .modify({ attempts: attempts + 1 });
    if (updated === 0) return; // cancelled at this moment
    const post: NewPost = { id, content, ...(picture ? { picture } : {}) };
    const body = new FormData();
    body.set("post", JSON.stringify(post));
    if (blob) body.set("picture", blob, "picture");
    const request = { method: "POST", path: "/api/tala", body } as const;
    const answer = await platform.request(request, { isRawBody: true, timeoutMs: postTimeoutMs });
    const parsed = v.safeParse(Published, answer);
    if (!parsed.success) throw new SyncError("internal");
    await this.#handlePublished(parsed.output);
  }

  /** Moves a published status from the queue to the feed in one transaction. One cancelled meanwhile stays in the queue. */
  async #handlePublished({ id, number, created_at: at }: Published): Promise<void> {
    const { strict, platform, me } = this.#context;
    const author = (await strict.meta.get(ownProfileKey))?.value as PersonRow | undefined;
    const write = () =>
      strict.transaction("rw", [strict.postbox, strict.posts, strict.blobs, strict.meta], async () => {
        const row = await strict.postbox.get(id);
        if (!row || row.state === "cancelled") return;
        const { content, picture } = row;
        const now = platform.now();
        const { username = "", avatar = null } = author ?? {};
        const post = { number, id, author: me, username, avatar, at, content, picture };
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
    await retryOnQuotaError(this.#context, write, false);
  }

  async #deleteOnServer({ id }: PostQueueRow): Promise<void> {
    const { strict, platform } = this.#context;
    await platform.request({ method: "DELETE", path: `/api/tala/${id}` });
    await strict.postbox.delete(id);
  }

  async #handleFailure(row: PostQueueRow, { code, retryAfterMs }: SyncError): Promise<"done" | "again" | "retry"> {
    const failure = new SyncError(code, retryAfterMs);
    const isOld = code !== "offline" && row.createdAt < (await readGiveUpTime(this.#context));
    if (isRetryableFailure(failure) && !isOld) return this.#delayNext(retryAfterMs);
    // Either the status to delete does not exist, or another device deleted the one to publish.
    const isObsolete = row.state === "cancelled" || code === "post_not_found";
    if (isObsolete) await this.#deleteRow(row);
    else await this.#markFailed(row, isRetryableFailure(failure) ? "unavailable" : (code as ErrorCode));
    return "again";
  }

  #delayNext(retryAfterMs: number | undefined): "done" | "retry" {
    if (retryAfterMs === undefined) return "retry";
    this.#cancelPause = this.#context.platform.startTimer(retryAfterMs, () => {
      this.#cancelPause = undefined;
      this.schedule();
    });
    return "done";
  }

  /** Marks a status as failed; from then on only its author can retry it. */
  async #markFailed({ id }: PostQueueRow, error: ErrorCode): Promise<void> {
    const { strict } = this.#context;
    await strict.postbox
      .where("id")
      .equals(id)
      .modify((row) => {
        if (row.state === "queued") Object.assign(row, { state: "failed", error });
      });
  }

  async #deleteRow({ id }: PostQueueRow): Promise<void> {
    const { strict } = this.#context;
    await strict.transaction("rw", [strict.postbox, strict.blobs], async () => {
      await strict.postbox.delete(id);
      await strict.blobs.delete(id);
    });
  }
}
