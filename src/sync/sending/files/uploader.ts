import type { ErrorCode } from "#contract/errors.ts";
import { type FileState, filePath } from "#contract/files.ts";
import type { Uuid } from "#contract/ids.ts";
import { filePartsAtOnce } from "#contract/limits/files.ts";
import { trimFileCache } from "#sync/files/download-cache.ts";
import { KeyedBackoff } from "#sync/platform/keyed-backoff.ts";
import { createOperationRunner, type OperationSender } from "#sync/platform/operation-runner.ts";
import { Retry } from "#sync/platform/retry.ts";
import { asSyncError, isRetryableFailure } from "#sync/platform/sync-error.ts";
import type { UploadRow } from "#sync/store/database.ts";
import { readGiveUpTime } from "#sync/store/retry-policy.ts";
import { runInBackground, type SyncContext } from "#sync/store/sync-context.ts";
import { requeueUpload } from "#sync/store/upload-rows.ts";
import { changeMessage, listUnsentByFile } from "#sync/unsent/messages.ts";
import type { OutboxRow } from "#sync/unsent/outbox-row.ts";
import { normalizeBody } from "./normalize-body.ts";
import { UnreadableFileError, type UploadContext, uploadFile } from "./upload-parts.ts";

const uploadsAtOnce = 2;
const progressIntervalMs = 250;
const yieldMs = 100;
const yieldMaxMs = 10_000; // a message without an answer for this long does not wait because of uploads

export type UploaderEvents = {
  /** Whether a message is sent and not answered yet. */
  isMessageInFlight(): boolean;
  /** Called when the server has a file, so that its messages may be sent. */
  onFileUploaded(): void;
};

/** Order in which files were chosen; messages of later files wait for earlier ones. */
const compareUploads = (a: UploadRow, b: UploadRow): number => a.createdAt - b.createdAt || (a.n ?? 0) - (b.n ?? 0);

const isActive = ({ state }: UploadRow): boolean => state === "waiting" || state === "uploading";

/** Deletes cancelled uploads on the server and here. The server expires uploads that are not finished. */
const createCancellationSender = ({ platform, store }: SyncContext): OperationSender<UploadRow> => ({
  async send({ file, announced }) {
    if (announced) await platform.request({ method: "DELETE", path: filePath(file) });
    await store.uploads.delete(file);
  },
  handleRefusal: ({ file }) => store.uploads.delete(file),
});

/**
 * Uploads files until the server has them or refuses them for good. The store says what to upload and the server says
 * what it already has, so that another tab or a later page can continue.
 */
export class Uploader {
  readonly #context: SyncContext;
  readonly #events: UploaderEvents;
  readonly #scheduler: Retry;
  readonly #cancellations: Retry;
  readonly #backoff: KeyedBackoff<Uuid>;
  #activeUploads = new Map<Uuid, AbortController>();
  /** Number of parts of all files being sent. `#partQueue` holds the parts that wait for one of them to end. */
  #partsInFlight = 0;
  #partQueue: (() => void)[] = [];
  #sentBytes = new Map<Uuid, number>();
  #cancelProgress: (() => void) | undefined;
  #isStopped = false;

  constructor(context: SyncContext, events: UploaderEvents) {
    this.#context = context;
    this.#events = events;
    this.#scheduler = new Retry(context.platform, () => this.#reconcile());
    this.#backoff = new KeyedBackoff(context.platform, () => this.schedule());
    this.#cancellations = createOperationRunner(context.platform, {
      list: () =>
        context.store.uploads
          .filter(({ state, file }) => state === "cancelled" && !this.#activeUploads.has(file))
          .toArray(),
      load: async () => createCancellationSender(context),
      isOrdered: true,
    });
  }

  schedule(): void {
    this.#scheduler.schedule();
  }

  runNow(): void {
    this.#backoff.retryNow();
    this.#scheduler.runNow();
    this.#cancellations.runNow();
  }

  stop(): void {
    this.#isStopped = true;
    this.#scheduler.stop();
    this.#cancellations.stop();
    this.#cancelProgress?.();
    this.#backoff.stop();
    for (const controller of this.#activeUploads.values()) controller.abort();
  }

  /** Starts, aborts and cancels uploads so that they match the store. */
  async #reconcile(): Promise<"done" | "again" | "retry"> {
    const rows = (await this.#context.store.uploads.toArray()).sort(compareUploads);
    const wanted = new Map(rows.filter(isActive).map((row) => [row.file, row]));
    for (const [file, controller] of this.#activeUploads) if (!wanted.has(file)) controller.abort();
    for (const row of wanted.values()) {
      if (this.#activeUploads.size >= uploadsAtOnce || this.#isStopped) break;
      if (!this.#activeUploads.has(row.file) && !this.#backoff.isWaiting(row.file)) this.#startUpload(row);
    }
    if (rows.some(({ state }) => state === "cancelled")) this.#cancellations.schedule();
    return "done";
  }

  #startUpload(row: UploadRow): void {
    const controller = new AbortController();
    this.#activeUploads.set(row.file, controller);
    const run = this.#upload(row, controller.signal)
      .finally(() => this.#saveProgress()) // includes parts that arrived just before the connection was lost
      .finally(() => {
        this.#activeUploads.delete(row.file);
        this.#sentBytes.delete(row.file);
        if (!this.#isStopped) this.#scheduler.schedule();
      });
    runInBackground(this.#context, run);
  }

  async #upload(row: UploadRow, signal: AbortSignal): Promise<void> {
    const { file } = row;
    await this.#setState(file, "uploading");
    const uploadContext: UploadContext = {
      signal,
      runInTurn: (work) => this.#runInTurn(signal, work),
      isSlow: this.#backoff.hasFailed(file),
      onProgress: (bytes) => this.#recordProgress(file, bytes),
    };
    try {
      const state = await uploadFile(this.#context, row, uploadContext);
      await this.#handleUploaded(row, state);
    } catch (error) {
      if (!signal.aborted) await this.#handleFailure(row, error);
    }
  }

  /** Runs a part when a slot is free and no message is in flight, or after `yieldMaxMs`. */
  async #runInTurn(signal: AbortSignal, work: () => Promise<void>): Promise<void> {
    while (this.#partsInFlight >= filePartsAtOnce) await new Promise<void>((resolve) => this.#partQueue.push(resolve));
    this.#partsInFlight++;
    try {
      const { platform } = this.#context;
      for (let ms = 0; this.#events.isMessageInFlight() && ms < yieldMaxMs && !signal.aborted; ms += yieldMs)
        await new Promise<void>((resolve) => platform.startTimer(yieldMs, resolve));
      signal.throwIfAborted();
      await work();
    } finally {
      this.#partsInFlight--;
      this.#partQueue.shift()?.();
    }
  }

  async #handleFailure(row: UploadRow, error: unknown): Promise<void> {
    const { file, createdAt } = row;
    if (error instanceof UnreadableFileError) return this.#markFailed(file, "file_not_found");
    const failure = asSyncError(error);
    const { code } = failure;
    if (code === "file_not_found" && (await requeueUpload(this.#context, file))) return;
    // The next try asks the server which parts it lacks.
    const isTemporary = isRetryableFailure(failure) || code === "file_incomplete" || code === "file_part_mismatch";
    if (!isTemporary) return this.#markFailed(file, code as ErrorCode);
    if (code !== "offline" && createdAt < (await readGiveUpTime(this.#context)))
      return this.#markFailed(file, "unavailable");
    await this.#setState(file, "waiting");
    if (!this.#isStopped) this.#backoff.delay(file, failure.retryAfterMs);
  }

  /** Marks a file and its messages as failed; from then on only their author can retry them. */
  async #markFailed(file: Uuid, error: ErrorCode): Promise<void> {
    this.#backoff.reset(file);
    await this.#setState(file, "failed");
    await this.#changeMessages(file, (row) => ({ ...row, state: "failed", error }));
  }

  async #changeMessages(file: Uuid, change: (row: OutboxRow) => OutboxRow): Promise<void> {
    const { unsent, platform } = this.#context;
    const messages = listUnsentByFile(unsent, file);
    await unsent
      .changeAll(messages.map(({ cid }) => changeMessage(cid, platform.now(), change)))
      .catch(() => undefined); // the image has it, and it is tried again
  }

  /** Queues the messages of an uploaded file. Its bytes stay in the cache of this device. */
  async #handleUploaded({ file, size }: UploadRow, state: FileState): Promise<void> {
    const { strict, platform } = this.#context;
    this.#backoff.reset(file);
    const upload = await strict.uploads.get(file);
    if (upload && upload.state !== "cancelled") {
      // First, because without its upload a message that awaits it would wait for ever.
      await this.#changeMessages(file, (row) => ({
        ...row,
        body: normalizeBody(row.body, state),
        ...(row.state === "awaiting" ? { state: "queued", readyAt: platform.now() } : {}),
      }));
      await strict.transaction("rw", [strict.uploads, strict.files], async () => {
        const row = await strict.uploads.get(file);
        if (!row || row.state === "cancelled") return;
        await strict.files.put({ file, size, usedAt: platform.now() });
        await strict.uploads.delete(file);
      });
    }
    this.#events.onFileUploaded();
    await trimFileCache(this.#context);
  }

  /** Sets the state of an active upload. A pause or cancellation by the person is never overwritten. */
  async #setState(file: Uuid, state: UploadRow["state"]): Promise<void> {
    const { strict } = this.#context;
    await strict.uploads.where("file").equals(file).filter(isActive).modify({ state });
  }

  #recordProgress(file: Uuid, bytes: number): void {
    const before = this.#sentBytes.get(file);
    if (before !== undefined && bytes > before) this.#backoff.reset(file);
    this.#sentBytes.set(file, bytes);
    this.#cancelProgress ??= this.#context.platform.startTimer(progressIntervalMs, () =>
      runInBackground(this.#context, this.#saveProgress()),
    );
  }

  /** Writes the progress of all active uploads to the store, for the screens of all tabs. */
  async #saveProgress(): Promise<void> {
    this.#cancelProgress?.();
    this.#cancelProgress = undefined;
    if (this.#isStopped) return;
    const all = [...this.#sentBytes].map(([key, sent]) => ({ key, changes: { sent } }));
    await this.#context.store.uploads.bulkUpdate(all);
  }
}
