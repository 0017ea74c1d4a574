import * as v from "valibot";
import { feedLookMs } from "#contract/limits.ts";
import { PostPage } from "#contract/tala.ts";
import { Observable } from "#lib/browser/observable.ts";
import { asSyncError, type FailureCode, SyncError } from "#sync/platform/sync-error.ts";
import { type Context, withRoom } from "#sync/store/context.ts";
import type { Tab } from "#sync/tabs/tab.ts";
import { readMark, takePage, trimPosts } from "./feed-store.ts";
import { settlePictures } from "./post-pictures.ts";

const feedPath = "/api/tala";
const thriftyTimes = 3; // where data are dear it is asked so much less often

const readPage = (body: unknown): PostPage => {
  const parsed = v.safeParse(PostPage, body);
  if (!parsed.success) throw new SyncError("internal");
  return parsed.output;
};

/** Takes in a page, and lets go of the pictures of what it says is gone. */
const takeIn = async (context: Context, page: PostPage, of: Parameters<typeof takePage>[3]): Promise<void> => {
  const { platform, store } = context;
  const gone = await withRoom(context, () => takePage(store, page, platform.now(), of), false);
  if (gone > 0) void settlePictures(context);
};

/** Asks for the newest statuses; nothing travels where they are those that are here. Throws a SyncError. */
const bringNewest = async (context: Context): Promise<void> => {
  const { platform, store } = context;
  const askedAt = platform.now();
  const answer = await platform.look(feedPath, await readMark(store));
  if (!answer) return;
  await takeIn(context, readPage(answer.body), { mark: answer.mark, askedAt });
};

/** Asks for the page that begins before a number. Throws a SyncError. */
export const bringOlder = async (context: Context, before: number): Promise<void> => {
  const answer = await context.platform.request({ method: "GET", path: `${feedPath}?before=${before}` });
  await takeIn(context, readPage(answer), { before });
};

/** How it stands with the newest statuses: asked for the first time, here, or not to be had. */
export type Looking = { at: "looking" } | { at: "seen" } | { at: "failed"; code: FailureCode };

/** Asks for new statuses again and again while somebody looks at the feed. */
export class FeedLooker {
  readonly looking = new Observable<Looking>({ at: "looking" });
  readonly #tab: Tab;
  readonly #everyMs: () => number;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #asking: Promise<void> | undefined;
  #isStopped = false;
  #cancel = () => {};
  readonly #unsubscribe: (() => void)[];

  constructor(tab: Tab, isThrifty: () => boolean) {
    this.#tab = tab;
    this.#everyMs = () => feedLookMs * (isThrifty() ? thriftyTimes : 1);
    this.#unsubscribe = [
      tab.platform.onWake(() => this.#lookIfDue()),
      tab.link.subscribe(() => {
        if (tab.link.get() === "online" && this.looking.get().at === "failed") void this.#look();
      }),
      tab.context.subscribe(() => this.#lookIfDue()),
    ];
    this.#trim();
    void this.#look();
  }

  /** Asks now, and says how it stands then. */
  async again(): Promise<Looking> {
    await this.#look();
    return this.looking.get();
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel();
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    this.#trim();
  }

  #trim(): void {
    const context = this.#tab.context.get();
    if (!context) return;
    trimPosts(context.store)
      .catch(() => undefined) // it is tried again the next time
      .then(() => settlePictures(context));
  }

  #lookIfDue(): void {
    const isDue = this.#tab.platform.now() - this.#lookedAt >= this.#everyMs();
    if (isDue || this.looking.get().at === "failed") void this.#look();
  }

  /** One at a time: who asks meanwhile waits for the same answer. */
  async #look(): Promise<void> {
    const context = this.#tab.context.get();
    // Whoever looks again, or has a store again, wakes it.
    if (this.#isStopped || !context || !this.#tab.platform.isVisible()) return;
    this.#asking ??= this.#ask(context).finally(() => {
      this.#asking = undefined;
    });
    await this.#asking;
  }

  async #ask(context: Context): Promise<void> {
    const { platform } = context;
    this.#cancel();
    this.#lookedAt = platform.now();
    try {
      await bringNewest(context);
      this.looking.set({ at: "seen" });
    } catch (error) {
      this.looking.set({ at: "failed", code: asSyncError(error).code });
    }
    if (!this.#isStopped) this.#cancel = platform.after(this.#everyMs(), () => void this.#look());
  }
}
