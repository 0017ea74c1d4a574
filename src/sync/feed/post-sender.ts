import * as v from "valibot";
import type { ErrorCode } from "#contract/errors.ts";
import { type NewPost, Published } from "#contract/tala.ts";
import { Retry } from "#sync/platform/retry.ts";
import { asSyncError, isWorthRetry, SyncError } from "#sync/platform/sync-error.ts";
import { type Context, withRoom } from "#sync/store/context.ts";
import { meKey, type PersonRow, type PostboxRow, type PostRow } from "#sync/store/database.ts";
import { readCursor } from "#sync/store/sync-cursor.ts";
import { feedMarkKey } from "./feed-store.ts";

const postTimeoutMs = 120_000; // a picture over a slow link
const giveUpMs = 7 * 24 * 3_600_000;

/**
 * Brings statuses to the server in the order they were written, one at a time, again and again under the same id until it
 * has them or refuses them for good; and takes back what nobody wants any more.
 */
export class Poster {
  readonly #context: Context;
  readonly #run: Retry;
  #cancelPause: (() => void) | undefined;
  #isStopped = false;

  constructor(context: Context) {
    this.#context = context;
    this.#run = new Retry(context.platform, () => this.#next());
  }

  want(): void {
    if (!this.#cancelPause) this.#run.want();
  }

  /** The link is there: what waited for its turn is tried now. */
  hurry(): void {
    this.#cancelPause?.();
    this.#cancelPause = undefined;
    this.#run.hurry();
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancelPause?.();
    this.#run.stop();
  }

  async #next(): Promise<"done" | "again" | "retry"> {
    if (this.#cancelPause) return "done";
    const row = await this.#context.store.postbox
      .orderBy("createdAt")
      .filter(({ state }) => state !== "failed")
      .first();
    if (!row || this.#isStopped) return "done";
    try {
      await (row.state === "cancelled" ? this.#unpost(row) : this.#post(row));
      return "again";
    } catch (error) {
      return this.#onFailure(row, asSyncError(error));
    }
  }

  async #post({ id, content, picture, attempts }: PostboxRow): Promise<void> {
    const { store, strict, platform } = this.#context;
    const blob = picture && (await store.blobs.get(id))?.blob;
    if (picture && !blob) throw new SyncError("file_not_found");
    // From here on the server may have it: whoever does not want it any more has to tell it so.
    const noted = await strict.postbox
      .where("id")
      .equals(id)
      .filter(({ state }) => state === "queued")
      .modify({ attempts: attempts + 1 });
    if (noted === 0) return; // taken back in this moment
    const post: NewPost = { id, content, ...(picture ? { picture } : {}) };
    const body = new FormData();
    body.set("post", JSON.stringify(post));
    if (blob) body.set("picture", blob, "picture");
    const request = { method: "POST", path: "/api/tala", body } as const;
    const answer = await platform.request(request, { raw: true, timeoutMs: postTimeoutMs });
    const parsed = v.safeParse(Published, answer);
    if (!parsed.success) throw new SyncError("internal");
    await this.#published(parsed.output);
  }

  /** It leaves the postbox and stands in the feed, in one go. Taken back meanwhile, it is to be deleted there. */
  async #published({ id, number, created_at: at }: Published): Promise<void> {
    const { strict, platform, me } = this.#context;
    const author = (await strict.meta.get(meKey))?.value as PersonRow | undefined;
    const write = () =>
      strict.transaction("rw", [strict.postbox, strict.posts, strict.blobs, strict.meta], async () => {
        const row = await strict.postbox.get(id);
        if (!row || row.state === "cancelled") return;
        const { content, picture } = row;
        const now = platform.now();
        const { username = "", avatar = null } = author ?? {};
        const told = { number, id, author: me, username, avatar, at, content, picture };
        const known: PostRow = (await strict.posts.get(number)) ?? { ...told, heardAt: now, checkedAt: now, loose: 1 };
        await strict.posts.put({ ...known, here: 1 });
        await strict.meta.delete(feedMarkKey);
        await strict.postbox.delete(id);
        await strict.blobs.delete(id);
      });
    await withRoom(this.#context, write, false);
  }

  async #unpost({ id }: PostboxRow): Promise<void> {
    const { strict, platform } = this.#context;
    await platform.request({ method: "DELETE", path: `/api/tala/${id}` });
    await strict.postbox.delete(id);
  }

  async #onFailure(row: PostboxRow, { code, retryAfterMs }: SyncError): Promise<"done" | "again" | "retry"> {
    const { strict, platform } = this.#context;
    const failure = new SyncError(code, retryAfterMs);
    const { skew } = await readCursor(strict);
    const isOld = code !== "offline" && row.createdAt < platform.now() + skew - giveUpMs;
    if (isWorthRetry(failure) && !isOld) return this.#pause(retryAfterMs);
    // What was to be deleted is not to be had, and what was taken back elsewhere nobody wants.
    const isOver = row.state === "cancelled" || code === "post_not_found";
    if (isOver) await this.#forget(row);
    else await this.#giveUp(row, isWorthRetry(failure) ? "unavailable" : (code as ErrorCode));
    return "again";
  }

  #pause(retryAfterMs: number | undefined): "done" | "retry" {
    if (retryAfterMs === undefined) return "retry";
    this.#cancelPause = this.#context.platform.after(retryAfterMs, () => {
      this.#cancelPause = undefined;
      this.want();
    });
    return "done";
  }

  /** From here on only its author can have it sent again. */
  async #giveUp({ id }: PostboxRow, error: ErrorCode): Promise<void> {
    const { strict } = this.#context;
    await strict.postbox
      .where("id")
      .equals(id)
      .modify((row) => {
        if (row.state === "queued") Object.assign(row, { state: "failed", error });
      });
  }

  async #forget({ id }: PostboxRow): Promise<void> {
    const { strict } = this.#context;
    await strict.transaction("rw", [strict.postbox, strict.blobs], async () => {
      await strict.postbox.delete(id);
      await strict.blobs.delete(id);
    });
  }
}
