import type { ErrorCode } from "#contract/errors.ts";
import { type FileState, filePath } from "#contract/files.ts";
import type { Uuid } from "#contract/ids.ts";
import { filePartsAtOnce } from "#contract/limits.ts";
import { retryDelayMs } from "#lib/http/backoff.ts";
import { Retry } from "#sync/platform/retry.ts";
import { asSyncError, isRetryableFailure } from "#sync/platform/sync-error.ts";
import type { UploadRow } from "#sync/store/database.ts";
import { runInBackground, type SyncContext } from "#sync/store/sync-context.ts";
import { readSyncCursor } from "#sync/store/sync-cursor.ts";
import { requeueUpload } from "#sync/store/upload-rows.ts";
import { trimFileCache } from "./download-cache.ts";
import { normalizeBody } from "./normalize-body.ts";
import { UnreadableFileError, type UploadContext, uploadFile } from "./upload-parts.ts";

const uploadsAtOnce = 2;
const progressIntervalMs = 250;
const yieldMs = 100;
const yieldMaxMs = 10_000; // a message that is not answered within this is not waiting for the link
const sendGiveUpMs = 7 * 24 * 3_600_000;

export type UploaderEvents = {
  /** Whether an answer to a message is waited for. */
  isMessageInFlight(): boolean;
  /** A file is with the server: its messages may go. */
  fileUploaded(): void;
};

type UploadBackoff = { attempts: number; cancel: (() => void) | undefined };

/** As they were chosen: the first ones are what the others wait for. */
const compareUploads = (a: UploadRow, b: UploadRow): number => a.createdAt - b.createdAt || (a.n ?? 0) - (b.n ?? 0);

const isActive = ({ state }: UploadRow): boolean => state === "waiting" || state === "uploading";

/**
 * Brings files to the server, again and again until they are there or refused for good. What is to be done stands in
 * the store, and what was done the server says: it does not matter which tab or page began.
 */
export class Uploader {
  readonly #context: SyncContext;
  readonly #events: UploaderEvents;
  readonly #scheduler: Retry;
  readonly #cancellations: Retry;
  #activeUploads = new Map<Uuid, AbortController>();
  #backoffs = new Map<Uuid, UploadBackoff>();
  /** Parts under way, of all files together, and those that wait for one of them to end. */
  #partsInFlight = 0;
  #partQueue: (() => void)[] = [];
  #sentBytes = new Map<Uuid, number>();
  #cancelProgress: (() => void) | undefined;
  #isStopped = false;

  constructor(context: SyncContext, events: UploaderEvents) {
    this.#context = context;
    this.#events = events;
    this.#scheduler = new Retry(context.platform, () => this.#reconcile());
    this.#cancellations = new Retry(context.platform, () => this.#deleteCancelled());
  }

  schedule(): void {
    this.#scheduler.schedule();
  }

  runNow(): void {
    for (const trouble of this.#backoffs.values()) {
      trouble.cancel?.();
      trouble.cancel = undefined;
    }
    this.#scheduler.runNow();
    this.#cancellations.runNow();
  }

  stop(): void {
    this.#isStopped = true;
    this.#scheduler.stop();
    this.#cancellations.stop();
    this.#cancelProgress?.();
    for (const trouble of this.#backoffs.values()) trouble.cancel?.();
    for (const controller of this.#activeUploads.values()) controller.abort();
  }

  /** Does what the store says: begins, ends, takes back. */
  async #reconcile(): Promise<"done" | "again" | "retry"> {
    const rows = (await this.#context.store.uploads.toArray()).sort(compareUploads);
    const going = new Map(rows.filter(isActive).map((row) => [row.file, row]));
    for (const [file, controller] of this.#activeUploads) if (!going.has(file)) controller.abort();
    for (const row of going.values()) {
      if (this.#activeUploads.size >= uploadsAtOnce || this.#isStopped) break;
      if (!this.#activeUploads.has(row.file) && !this.#backoffs.get(row.file)?.cancel) this.#startUpload(row);
    }
    if (rows.some(({ state }) => state === "cancelled")) this.#cancellations.schedule();
    return "done";
  }

  #startUpload(row: UploadRow): void {
    const controller = new AbortController();
    this.#activeUploads.set(row.file, controller);
    const run = this.#upload(row, controller.signal)
      .finally(() => this.#saveProgress()) // also of what arrived just before the link was lost
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
    const way: UploadContext = {
      signal,
      runInTurn: (work) => this.#runInTurn(signal, work),
      isSlow: this.#backoffs.has(file),
      onProgress: (bytes) => this.#recordProgress(file, bytes),
    };
    try {
      const state = await uploadFile(this.#context, row, way);
      await this.#handleUploaded(row, state);
    } catch (error) {
      if (!signal.aborted) await this.#handleFailure(row, error);
    }
  }

  /** Runs a part when there is place for it and no message waits for the link. */
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
    const { platform, store } = this.#context;
    if (error instanceof UnreadableFileError) return this.#markFailed(file, "file_not_found");
    const failure = asSyncError(error);
    const { code } = failure;
    if (code === "file_not_found" && (await requeueUpload(this.#context, file))) return;
    // Parts that are not there after all are asked for and brought, as after any other failure.
    const isPassing = isRetryableFailure(failure) || code === "file_incomplete" || code === "file_part_mismatch";
    if (!isPassing) return this.#markFailed(file, code as ErrorCode);
    const { skew } = await readSyncCursor(store);
    const isOld = createdAt < platform.now() + skew - sendGiveUpMs;
    if (isOld && code !== "offline") return this.#markFailed(file, "unavailable");
    await this.#setState(file, "waiting");
    this.#scheduleRetry(file, failure.retryAfterMs);
  }

  #scheduleRetry(file: Uuid, retryAfterMs: number | undefined): void {
    if (this.#isStopped) return;
    const { platform } = this.#context;
    const attempts = (this.#backoffs.get(file)?.attempts ?? 0) + 1;
    const trouble: UploadBackoff = { attempts, cancel: undefined };
    trouble.cancel = platform.startTimer(retryAfterMs ?? retryDelayMs(attempts, platform.random), () => {
      trouble.cancel = undefined;
      this.schedule();
    });
    this.#backoffs.set(file, trouble);
  }

  /** From here on only its author can have it sent again. */
  async #markFailed(file: Uuid, error: ErrorCode): Promise<void> {
    const { strict } = this.#context;
    this.#backoffs.delete(file);
    await strict.transaction("rw", [strict.outbox, strict.uploads], async () => {
      await this.#setState(file, "failed");
      await strict.queryUnsentByFile(file).modify({ state: "failed", error });
    });
  }

  /** The file is with the server; here it stays to be seen. */
  async #handleUploaded({ file, size }: UploadRow, state: FileState): Promise<void> {
    const { strict, platform } = this.#context;
    this.#backoffs.delete(file);
    await strict.transaction("rw", [strict.outbox, strict.uploads, strict.files], async () => {
      const row = await strict.uploads.get(file);
      if (!row || row.state === "cancelled") return;
      await strict.queryUnsentByFile(file).modify((message) => {
        message.body = normalizeBody(message.body, state);
        if (message.state !== "awaiting") return;
        message.state = "queued";
        message.readyAt = platform.now();
      });
      await strict.files.put({ file, size, usedAt: platform.now() });
      await strict.uploads.delete(file);
    });
    this.#events.fileUploaded();
    await trimFileCache(this.#context);
  }

  /** Tells the server what nobody wants any more. What it never hears of again it forgets by itself. */
  async #deleteCancelled(): Promise<"done" | "retry"> {
    const { platform, store } = this.#context;
    const rows = await store.uploads
      .filter(({ state, file }) => state === "cancelled" && !this.#activeUploads.has(file))
      .toArray();
    for (const { file, announced } of rows) {
      try {
        if (announced) await platform.request({ method: "DELETE", path: filePath(file) });
      } catch (error) {
        if (isRetryableFailure(asSyncError(error))) return "retry";
      }
      await store.uploads.delete(file);
    }
    return "done";
  }

  /** A person's pause or cancellation is never overwritten. */
  async #setState(file: Uuid, state: UploadRow["state"]): Promise<void> {
    const { strict } = this.#context;
    await strict.uploads.where("file").equals(file).filter(isActive).modify({ state });
  }

  #recordProgress(file: Uuid, bytes: number): void {
    const trouble = this.#backoffs.get(file);
    const before = this.#sentBytes.get(file);
    if (trouble && before !== undefined && bytes > before) trouble.attempts = 0;
    this.#sentBytes.set(file, bytes);
    this.#cancelProgress ??= this.#context.platform.startTimer(progressIntervalMs, () =>
      runInBackground(this.#context, this.#saveProgress()),
    );
  }

  /** How far everything under way is, for all tabs. */
  async #saveProgress(): Promise<void> {
    this.#cancelProgress?.();
    this.#cancelProgress = undefined;
    if (this.#isStopped) return;
    const all = [...this.#sentBytes].map(([key, sent]) => ({ key, changes: { sent } }));
    await this.#context.store.uploads.bulkUpdate(all);
  }
}
