import type { UploaderEvents } from "#sync/files/uploader.ts";
import { Retry } from "#sync/platform/retry.ts";
import { type Context, inBackground } from "#sync/store/context.ts";
import { listWithdrawn } from "#sync/store/pending-deletion-rows.ts";
import { isWaiting, readSettings } from "#sync/store/settings-rows.ts";

type Worker = { want(): void; hurry(): void; stop(): void };

/** What a worker is, whether there is something for it to do, and where its code is. */
type Late = { hasWork: () => Promise<boolean>; load: () => Promise<Worker> };

/** One of the leader's workers, loaded once there is something for it to do. */
class LateWorker implements Worker {
  readonly #context: Context;
  readonly #late: Late;
  readonly #loading: Retry;
  #worker: Worker | undefined;
  #isStopped = false;

  constructor(context: Context, late: Late) {
    this.#context = context;
    this.#late = late;
    this.#loading = new Retry(context.platform, () => this.#load());
  }

  want(): void {
    if (this.#worker) this.#worker.want();
    else
      inBackground(
        this.#context,
        this.#begin(() => this.#loading.want()),
      );
  }

  hurry(): void {
    if (this.#worker) this.#worker.hurry();
    else
      inBackground(
        this.#context,
        this.#begin(() => this.#loading.hurry()),
      );
  }

  stop(): void {
    this.#isStopped = true;
    this.#loading.stop();
    this.#worker?.stop();
  }

  async #begin(load: () => void): Promise<void> {
    if (await this.#late.hasWork()) load();
  }

  /** What was never loaded may not be had at once: what waits for it must not wait for whatever is written next. */
  async #load(): Promise<"done" | "retry"> {
    if (this.#worker) return "done";
    const worker = await this.#late.load().catch(() => undefined);
    if (!worker) return "retry";
    if (this.#isStopped) return "done";
    this.#worker = worker;
    worker.want();
    return "done";
  }
}

/** The leader's workers for what not everybody sends at every time: files, statuses of Tala, changed settings, late deletions. */
export class LateWorkers implements Worker {
  readonly #all: readonly LateWorker[];

  constructor(context: Context, uploading: UploaderEvents, settingsRefused: () => void) {
    const { store } = context;
    const uploads: Late = {
      hasWork: async () => (await store.uploads.count()) > 0,
      load: async () => new (await import("#sync/files/uploader.ts")).Uploader(context, uploading),
    };
    const posts: Late = {
      hasWork: async () => (await store.postbox.count()) > 0,
      load: async () => new (await import("#sync/feed/post-sender.ts")).Poster(context),
    };
    const settings: Late = {
      hasWork: async () => isWaiting(await readSettings(store)),
      load: async () => (await import("#sync/people/settings-sender.ts")).makeSettingsSender(context, settingsRefused),
    };
    const withdrawn: Late = {
      hasWork: async () => (await listWithdrawn(store)).length > 0,
      load: async () => (await import("#sync/outbox/deletion-sender.ts")).makeWithdrawer(context),
    };
    this.#all = [uploads, posts, settings, withdrawn].map((late) => new LateWorker(context, late));
  }

  /** Something was written, paused, resumed or given up. */
  want(): void {
    for (const worker of this.#all) worker.want();
  }

  /** The link is there: what waited for its turn is tried now. */
  hurry(): void {
    for (const worker of this.#all) worker.hurry();
  }

  stop(): void {
    for (const worker of this.#all) worker.stop();
  }
}
