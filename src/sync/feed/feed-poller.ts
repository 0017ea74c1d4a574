import * as v from "valibot";
import { feedPollMs } from "#contract/limits/tala.ts";
import { PostPage } from "#contract/tala.ts";
import { Observable } from "#lib/browser/observable.ts";
import { asSyncError, type FailureCode, SyncError } from "#sync/platform/sync-error.ts";
import { retryOnQuotaError, type SyncContext } from "#sync/store/sync-context.ts";
import type { SyncPort } from "#sync/store/sync-port.ts";
import { readFeedEtag, storePostPage, trimPosts } from "./feed-store.ts";
import { pruneFeedPictures } from "./post-pictures.ts";

const feedPath = "/api/tala";
const dataSaverFactor = 3; // polling interval is this much longer while data is saved

const parsePostPage = (body: unknown): PostPage => {
  const parsed = v.safeParse(PostPage, body);
  if (!parsed.success) throw new SyncError("internal");
  return parsed.output;
};

/** Stores a page of statuses and deletes the pictures of statuses that it shows to be deleted. */
const applyPostPage = async (
  context: SyncContext,
  page: PostPage,
  range: Parameters<typeof storePostPage>[3],
): Promise<void> => {
  const { platform, store } = context;
  const deleted = await retryOnQuotaError(context, () => storePostPage(store, page, platform.now(), range), false);
  if (deleted > 0) void pruneFeedPictures(context);
};

/** Fetches the newest statuses. The ETag avoids a download if they are unchanged. Throws a SyncError. */
const fetchNewestPosts = async (context: SyncContext): Promise<void> => {
  const { platform, store } = context;
  const requestedAt = platform.now();
  const answer = await platform.requestIfChanged(feedPath, await readFeedEtag(store));
  if (!answer) return;
  await applyPostPage(context, parsePostPage(answer.body), { etag: answer.etag, requestedAt });
};

/** Fetches the page of statuses before a number. Throws a SyncError. */
export const fetchOlderPosts = async (context: SyncContext, before: number): Promise<void> => {
  const answer = await context.platform.request({ method: "GET", path: `${feedPath}?before=${before}` });
  await applyPostPage(context, parsePostPage(answer), { before });
};

/** State of the newest statuses: first request under way, loaded, or failed. */
export type FeedStatus = { at: "looking" } | { at: "seen" } | { at: "failed"; code: FailureCode };

/** Polls for new statuses while the feed is on screen. */
export class FeedPoller {
  readonly status = new Observable<FeedStatus>({ at: "looking" });
  readonly #port: SyncPort;
  readonly #getIntervalMs: () => number;
  #polledAt = Number.NEGATIVE_INFINITY;
  #request: Promise<void> | undefined;
  #isStopped = false;
  #cancel = () => {};
  readonly #unsubscribe: (() => void)[];

  constructor(port: SyncPort, isDataSaverOn: () => boolean) {
    this.#port = port;
    this.#getIntervalMs = () => feedPollMs * (isDataSaverOn() ? dataSaverFactor : 1);
    this.#unsubscribe = [
      port.platform.onWake(() => this.#pollIfDue()),
      port.link.subscribe(() => {
        if (port.link.get() === "online" && this.status.get().at === "failed") void this.#poll();
      }),
      port.context.subscribe(() => this.#pollIfDue()),
    ];
    this.#trim();
    void this.#poll();
  }

  /** Polls now and resolves to the resulting status. */
  async refresh(): Promise<FeedStatus> {
    await this.#poll();
    return this.status.get();
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel();
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    this.#trim();
  }

  #trim(): void {
    const context = this.#port.context.get();
    if (!context) return;
    trimPosts(context.store)
      .catch(() => undefined) // the next run tries again
      .then(() => pruneFeedPictures(context));
  }

  #pollIfDue(): void {
    const isDue = this.#port.platform.now() - this.#polledAt >= this.#getIntervalMs();
    if (isDue || this.status.get().at === "failed") void this.#poll();
  }

  /** Polls once. Calls during a request wait for the same answer. */
  async #poll(): Promise<void> {
    const context = this.#port.context.get();
    // Polling continues when the page becomes visible or the store is opened.
    if (this.#isStopped || !context || !this.#port.platform.isVisible()) return;
    this.#request ??= this.#requestNewest(context).finally(() => {
      this.#request = undefined;
    });
    await this.#request;
  }

  async #requestNewest(context: SyncContext): Promise<void> {
    const { platform } = context;
    this.#cancel();
    this.#polledAt = platform.now();
    try {
      await fetchNewestPosts(context);
      this.status.set({ at: "seen" });
    } catch (error) {
      this.status.set({ at: "failed", code: asSyncError(error).code });
    }
    if (!this.#isStopped) this.#cancel = platform.startTimer(this.#getIntervalMs(), () => void this.#poll());
  }
}
