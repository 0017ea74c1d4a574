import type { ErrorCode } from "#contract/errors.ts";
import { type FileState, filePath } from "#contract/files.ts";
import type { Uuid } from "#contract/ids.ts";
import { filePartsAtOnce } from "#contract/limits/files.ts";
import { cacheSentFile, trimFileCache } from "#sync/files/download-cache.ts";
import { KeyedBackoff } from "#sync/platform/keyed-backoff.ts";
import { createOperationRunner, type OperationSender } from "#sync/platform/operation-runner.ts";
import { Retry } from "#sync/platform/retry.ts";
import { asSyncError, isRetryableFailure } from "#sync/platform/sync-error.ts";
import { readGiveUpTime } from "#sync/store/retry-policy.ts";
import { commitUnsent, runInBackground, type SyncContext } from "#sync/store/sync-context.ts";
import type { UploadRow } from "#sync/unsent/attachment-rows.ts";
import { changeMessage, listUnsentByFile } from "#sync/unsent/messages.ts";
import type { OutboxRow } from "#sync/unsent/outbox-row.ts";
import type { UnsentChange } from "#sync/unsent/unsent-state.ts";
import { changeUpload, isUploadActive, listUploads, removeUpload } from "#sync/unsent/uploads.ts";
import { normalizeBody } from "./normalize-body.ts";
import { requeueUpload } from "./requeue-upload.ts";
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

/** Deletes cancelled uploads on the server and here. The server expires uploads that are not finished. */
const createCancellationSender = (context: SyncContext): OperationSender<UploadRow> => ({
  async send({ file, announced }) {
    if (announced) await context.platform.request({ method: "DELETE", path: filePath(file) });
    await endUpload(context, file);
  },
  handleRefusal: ({ file }) => endUpload(context, file),
});

const endUpload = async (context: SyncContext, file: Uuid): Promise<void> => {
  await commitUnsent(context, [removeUpload(file)]);
  await context.store.progress.delete(file);
};

/**
 * Uploads files until the server has them or refuses them for good. The unsent data say what to upload and the server
 * says what it already has, so that another tab or a later page can continue.
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
        listUploads(context.unsent).filter(
          ({ state, file }) => state === "cancelled" && !this.#activeUploads.has(file),
        ),
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

  /** Starts, aborts and cancels uploads so that they match the unsent data. */
  async #reconcile(): Promise<"done" | "again" | "retry"> {
    const rows = listUploads(this.#context.unsent);
    const wanted = new Map(rows.filter(isUploadActive).map((row) => [row.file, row]));
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
    await commitUnsent(this.#context, [
      this.#toStateChange(file, "failed"),
      ...this.#toMessageChanges(file, (row) => ({ ...row, state: "failed", error })),
    ]);
  }

  #toMessageChanges(file: Uuid, change: (row: OutboxRow) => OutboxRow): UnsentChange[] {
    const { unsent, platform } = this.#context;
    return listUnsentByFile(unsent, file).map(({ cid }) => changeMessage(cid, platform.now(), change));
  }

  /**
   * Queues the messages of an uploaded file, and then copies its bytes to the cache of this device. The unsent data keep
   * theirs until the messages are acknowledged, because the server may lose the file before that.
   */
  async #handleUploaded({ file }: UploadRow, state: FileState): Promise<void> {
    const { unsent, platform } = this.#context;
    this.#backoff.reset(file);
    const upload = unsent.find("uploads", file);
    if (upload && upload.state !== "cancelled") {
      const blob = await unsent.bytes.get(file).catch(() => undefined); // readable also after it is deleted
      await commitUnsent(this.#context, [
        removeUpload(file),
        ...this.#toMessageChanges(file, (row) => ({
          ...row,
          body: normalizeBody(row.body, state),
          ...(row.state === "awaiting" ? { state: "queued", readyAt: platform.now() } : {}),
        })),
      ]);
      this.#events.onFileUploaded();
      await this.#context.store.progress.delete(file);
      if (blob) await cacheSentFile(this.#context, file, blob);
    }
    await trimFileCache(this.#context);
  }

  /** Sets the state of an active upload. A pause or cancellation by the person is never overwritten. */
  async #setState(file: Uuid, state: UploadRow["state"]): Promise<void> {
    await commitUnsent(this.#context, [this.#toStateChange(file, state)]);
  }

  #toStateChange(file: Uuid, state: UploadRow["state"]): UnsentChange {
    return changeUpload(file, this.#context.platform.now(), (row) => (isUploadActive(row) ? { ...row, state } : row));
  }

  #recordProgress(file: Uuid, bytes: number): void {
    const before = this.#sentBytes.get(file);
    if (before !== undefined && bytes > before) this.#backoff.reset(file);
    this.#sentBytes.set(file, bytes);
    this.#cancelProgress ??= this.#context.platform.startTimer(progressIntervalMs, () =>
      runInBackground(this.#context, this.#saveProgress()),
    );
  }

  /** Writes the progress of all active uploads to the cache, for the screens of all tabs. */
  async #saveProgress(): Promise<void> {
    this.#cancelProgress?.();
    this.#cancelProgress = undefined;
    if (this.#isStopped) return;
    await this.#context.store.progress.bulkPut([...this.#sentBytes].map(([file, sent]) => ({ file, sent })));
  }
}
