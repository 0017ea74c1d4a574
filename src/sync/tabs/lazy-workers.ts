import type { UploaderEvents } from "#sync/files/uploader.ts";
import { Retry } from "#sync/platform/retry.ts";
import { listPendingDeletions } from "#sync/store/pending-deletions.ts";
import { hasPendingSettings, readSettingsRow } from "#sync/store/settings-rows.ts";
import { runInBackground, type SyncContext } from "#sync/store/sync-context.ts";

type BackgroundWorker = { schedule(): void; runNow(): void; stop(): void };

/** What a worker is, whether there is something for it to do, and where its code is. */
type LazyWorkerSource = { hasWork: () => Promise<boolean>; load: () => Promise<BackgroundWorker> };

/** One of the leader's workers, loaded once there is something for it to do. */
class LazyWorker implements BackgroundWorker {
  readonly #context: SyncContext;
  readonly #source: LazyWorkerSource;
  readonly #loader: Retry;
  #worker: BackgroundWorker | undefined;
  #isStopped = false;

  constructor(context: SyncContext, late: LazyWorkerSource) {
    this.#context = context;
    this.#source = late;
    this.#loader = new Retry(context.platform, () => this.#load());
  }

  schedule(): void {
    if (this.#worker) this.#worker.schedule();
    else
      runInBackground(
        this.#context,
        this.#loadIfNeeded(() => this.#loader.schedule()),
      );
  }

  runNow(): void {
    if (this.#worker) this.#worker.runNow();
    else
      runInBackground(
        this.#context,
        this.#loadIfNeeded(() => this.#loader.runNow()),
      );
  }

  stop(): void {
    this.#isStopped = true;
    this.#loader.stop();
    this.#worker?.stop();
  }

  async #loadIfNeeded(load: () => void): Promise<void> {
    if (await this.#source.hasWork()) load();
  }

  /** What was never loaded may not be had at once: what waits for it must not wait for whatever is written next. */
  async #load(): Promise<"done" | "retry"> {
    if (this.#worker) return "done";
    const worker = await this.#source.load().catch(() => undefined);
    if (!worker) return "retry";
    if (this.#isStopped) return "done";
    this.#worker = worker;
    worker.schedule();
    return "done";
  }
}

/** The leader's workers for what not everybody sends at every time: files, statuses of Tala, changed settings, late deletions. */
export class LazyWorkers implements BackgroundWorker {
  readonly #workers: readonly LazyWorker[];

  constructor(context: SyncContext, uploading: UploaderEvents, settingsRefused: () => void) {
    const { store } = context;
    const uploads: LazyWorkerSource = {
      hasWork: async () => (await store.uploads.count()) > 0,
      load: async () => new (await import("#sync/files/uploader.ts")).Uploader(context, uploading),
    };
    const posts: LazyWorkerSource = {
      hasWork: async () => (await store.postbox.count()) > 0,
      load: async () => new (await import("#sync/feed/post-sender.ts")).PostSender(context),
    };
    const settings: LazyWorkerSource = {
      hasWork: async () => hasPendingSettings(await readSettingsRow(store)),
      load: async () =>
        (await import("#sync/people/settings-sender.ts")).createSettingsSender(context, settingsRefused),
    };
    const withdrawn: LazyWorkerSource = {
      hasWork: async () => (await listPendingDeletions(store)).length > 0,
      load: async () => (await import("#sync/outbox/deletion-sender.ts")).createDeletionSender(context),
    };
    this.#workers = [uploads, posts, settings, withdrawn].map((late) => new LazyWorker(context, late));
  }

  /** Something was written, paused, resumed or given up. */
  schedule(): void {
    for (const worker of this.#workers) worker.schedule();
  }

  /** The link is there: what waited for its turn is tried now. */
  runNow(): void {
    for (const worker of this.#workers) worker.runNow();
  }

  stop(): void {
    for (const worker of this.#workers) worker.stop();
  }
}
