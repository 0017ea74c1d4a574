import type { Uploader, UploaderEvents } from "#sync/files/uploader.ts";
import { createOperationRunner } from "#sync/outbox/operation-runner.ts";
import { Retry } from "#sync/platform/retry.ts";
import { listPendingDeletions } from "#sync/store/pending-deletions.ts";
import { hasPendingSettings, readSettingsRow } from "#sync/store/settings-rows.ts";
import type { SyncContext } from "#sync/store/sync-context.ts";

/**
 * Background tasks of the leader that send rarely pending data: files, Tala statuses, changed settings and deletions of
 * messages. The code of each is loaded when it first has work; if it cannot be fetched, it is tried again later.
 */
export class LazyWorkers {
  readonly #runners: readonly Retry[];
  #uploader: Uploader | undefined;

  constructor(context: SyncContext, uploaderEvents: UploaderEvents, onSettingsRefused: () => void) {
    const { platform, store } = context;
    const uploads = new Retry(platform, async () => {
      if (!this.#uploader) {
        if ((await store.uploads.count()) === 0) return "done";
        const { Uploader } = await import("#sync/files/uploader.ts");
        if (uploads.isStopped) return "done";
        this.#uploader = new Uploader(context, uploaderEvents);
      }
      this.#uploader.schedule();
      return "done";
    });
    const posts = createOperationRunner(platform, {
      list: () =>
        store.postbox
          .orderBy("createdAt")
          .filter(({ state }) => state !== "failed")
          .toArray(),
      load: async () => (await import("#sync/feed/post-sender.ts")).createPostSender(context),
      isOrdered: true,
    });
    const settings = createOperationRunner(platform, {
      async list() {
        const row = await readSettingsRow(store);
        return hasPendingSettings(row) ? [row.wanted] : [];
      },
      load: async () =>
        (await import("#sync/people/settings-sender.ts")).createSettingsSender(context, onSettingsRefused),
    });
    const deletions = createOperationRunner(platform, {
      list: () => listPendingDeletions(store),
      load: async () => (await import("#sync/outbox/deletion-sender.ts")).createDeletionSender(context),
    });
    this.#runners = [uploads, posts, settings, deletions];
  }

  /** Sends soon, after pending data was added, paused, resumed or cancelled. */
  schedule(): void {
    for (const runner of this.#runners) runner.schedule();
  }

  /** Sends at once, without waiting for back-off, because the server became reachable. */
  runNow(): void {
    this.#uploader?.runNow();
    for (const runner of this.#runners) runner.runNow();
  }

  stop(): void {
    this.#uploader?.stop();
    for (const runner of this.#runners) runner.stop();
  }
}
