import type { UploaderEvents } from "#sync/files/uploader.ts";
import { createOperationRunner, type OperationKind } from "#sync/outbox/operation-runner.ts";
import { Retry } from "#sync/platform/retry.ts";
import type { PostQueueRow } from "#sync/store/database.ts";
import { listPendingDeletions, type PendingDeletion } from "#sync/store/pending-deletions.ts";
import { hasPendingSettings, readSettingsRow } from "#sync/store/settings-rows.ts";
import { runInBackground, type SyncContext } from "#sync/store/sync-context.ts";

/** Background task of the leader that sends one kind of pending data. */
type BackgroundWorker = { schedule(): void; runNow(): void; stop(): void };

/** Check for pending work and dynamic import of a worker's code. */
type LazyWorkerSource = { hasWork: () => Promise<boolean>; load: () => Promise<BackgroundWorker> };

/** Worker whose code is loaded when it first has work. */
class LazyWorker implements BackgroundWorker {
  readonly #context: SyncContext;
  readonly #source: LazyWorkerSource;
  readonly #loader: Retry;
  #worker: BackgroundWorker | undefined;
  #isStopped = false;

  constructor(context: SyncContext, source: LazyWorkerSource) {
    this.#context = context;
    this.#source = source;
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

  /** Loads the worker's code. Returns "retry" if it cannot be fetched, so that pending work does not wait for the next write. */
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

/** Workers of the leader for rarely sent data: files, Tala statuses, changed settings and pending deletions. */
export class LazyWorkers implements BackgroundWorker {
  readonly #workers: readonly BackgroundWorker[];

  constructor(context: SyncContext, uploaderEvents: UploaderEvents, onSettingsRefused: () => void) {
    const { store } = context;
    const uploads: LazyWorkerSource = {
      hasWork: async () => (await store.uploads.count()) > 0,
      load: async () => new (await import("#sync/files/uploader.ts")).Uploader(context, uploaderEvents),
    };
    const posts: OperationKind<PostQueueRow> = {
      list: () =>
        store.postbox
          .orderBy("createdAt")
          .filter(({ state }) => state !== "failed")
          .toArray(),
      load: async () => (await import("#sync/feed/post-sender.ts")).createPostSender(context),
      isOrdered: true,
    };
    const settings: LazyWorkerSource = {
      hasWork: async () => hasPendingSettings(await readSettingsRow(store)),
      load: async () =>
        (await import("#sync/people/settings-sender.ts")).createSettingsSender(context, onSettingsRefused),
    };
    const deletions: OperationKind<PendingDeletion> = {
      list: () => listPendingDeletions(store),
      load: async () => (await import("#sync/outbox/deletion-sender.ts")).createDeletionSender(context),
    };
    this.#workers = [
      ...[uploads, settings].map((source) => new LazyWorker(context, source)),
      createOperationRunner(context.platform, posts),
      createOperationRunner(context.platform, deletions),
    ];
  }

  /** Runs the workers soon, after pending data was added, paused, resumed or cancelled. */
  schedule(): void {
    for (const worker of this.#workers) worker.schedule();
  }

  /** Runs the workers at once, without waiting for their back-off, because the server became reachable. */
  runNow(): void {
    for (const worker of this.#workers) worker.runNow();
  }

  stop(): void {
    for (const worker of this.#workers) worker.stop();
  }
}
