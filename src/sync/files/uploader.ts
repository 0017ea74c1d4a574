import type { ErrorCode } from "#contract/errors.ts";
import { type FileState, filePath } from "#contract/files.ts";
import type { Uuid } from "#contract/ids.ts";
import { filePartsAtOnce } from "#contract/limits.ts";
import { retryDelayMs } from "#lib/http/backoff.ts";
import { Retry } from "#sync/platform/retry.ts";
import { asSyncError, isWorthRetry } from "#sync/platform/sync-error.ts";
import { type Context, inBackground } from "#sync/store/context.ts";
import type { UploadRow } from "#sync/store/database.ts";
import { readCursor } from "#sync/store/sync-cursor.ts";
import { bringAgain } from "#sync/store/upload-rows.ts";
import { boundFiles } from "./download-cache.ts";
import { settleBody } from "./normalize-body.ts";
import { bringFile, LostBytesError, type Way } from "./upload-parts.ts";

const uploadsAtOnce = 2;
const progressMs = 250;
const yieldMs = 100;
const yieldMaxMs = 10_000; // a message that is not answered within this is not waiting for the link
const giveUpMs = 7 * 24 * 3_600_000;

export type UploaderEvents = {
  /** Whether an answer to a message is waited for. */
  isTextWaiting(): boolean;
  /** A file is with the server: its messages may go. */
  ready(): void;
};

type Trouble = { attempts: number; cancel: (() => void) | undefined };

/** As they were chosen: the first ones are what the others wait for. */
const inTheirOrder = (a: UploadRow, b: UploadRow): number => a.createdAt - b.createdAt || (a.n ?? 0) - (b.n ?? 0);

const isGoing = ({ state }: UploadRow): boolean => state === "waiting" || state === "uploading";

/**
 * Brings files to the server, again and again until they are there or refused for good. What is to be done stands in
 * the store, and what was done the server says: it does not matter which tab or page began.
 */
export class Uploader {
  readonly #context: Context;
  readonly #events: UploaderEvents;
  readonly #look: Retry;
  readonly #takeBacks: Retry;
  #running = new Map<Uuid, AbortController>();
  #troubles = new Map<Uuid, Trouble>();
  /** Parts under way, of all files together, and those that wait for one of them to end. */
  #parts = 0;
  #queue: (() => void)[] = [];
  #sent = new Map<Uuid, number>();
  #cancelProgress: (() => void) | undefined;
  #isStopped = false;

  constructor(context: Context, events: UploaderEvents) {
    this.#context = context;
    this.#events = events;
    this.#look = new Retry(context.platform, () => this.#begin());
    this.#takeBacks = new Retry(context.platform, () => this.#takeBack());
  }

  want(): void {
    this.#look.want();
  }

  hurry(): void {
    for (const trouble of this.#troubles.values()) {
      trouble.cancel?.();
      trouble.cancel = undefined;
    }
    this.#look.hurry();
    this.#takeBacks.hurry();
  }

  stop(): void {
    this.#isStopped = true;
    this.#look.stop();
    this.#takeBacks.stop();
    this.#cancelProgress?.();
    for (const trouble of this.#troubles.values()) trouble.cancel?.();
    for (const controller of this.#running.values()) controller.abort();
  }

  /** Does what the store says: begins, ends, takes back. */
  async #begin(): Promise<"done" | "again" | "retry"> {
    const rows = (await this.#context.store.uploads.toArray()).sort(inTheirOrder);
    const going = new Map(rows.filter(isGoing).map((row) => [row.file, row]));
    for (const [file, controller] of this.#running) if (!going.has(file)) controller.abort();
    for (const row of going.values()) {
      if (this.#running.size >= uploadsAtOnce || this.#isStopped) break;
      if (!this.#running.has(row.file) && !this.#troubles.get(row.file)?.cancel) this.#start(row);
    }
    if (rows.some(({ state }) => state === "cancelled")) this.#takeBacks.want();
    return "done";
  }

  #start(row: UploadRow): void {
    const controller = new AbortController();
    this.#running.set(row.file, controller);
    const run = this.#bring(row, controller.signal)
      .finally(() => this.#tellProgress()) // also of what arrived just before the link was lost
      .finally(() => {
        this.#running.delete(row.file);
        this.#sent.delete(row.file);
        if (!this.#isStopped) this.#look.want();
      });
    inBackground(this.#context, run);
  }

  async #bring(row: UploadRow, signal: AbortSignal): Promise<void> {
    const { file } = row;
    await this.#setState(file, "uploading");
    const way: Way = {
      signal,
      inTurn: (work) => this.#inTurn(signal, work),
      isNarrow: this.#troubles.has(file),
      sent: (bytes) => this.#noteProgress(file, bytes),
    };
    try {
      const state = await bringFile(this.#context, row, way);
      await this.#finish(row, state);
    } catch (error) {
      if (!signal.aborted) await this.#onFailure(row, error);
    }
  }

  /** Runs a part when there is place for it and no message waits for the link. */
  async #inTurn(signal: AbortSignal, work: () => Promise<void>): Promise<void> {
    while (this.#parts >= filePartsAtOnce) await new Promise<void>((resolve) => this.#queue.push(resolve));
    this.#parts++;
    try {
      const { platform } = this.#context;
      for (let ms = 0; this.#events.isTextWaiting() && ms < yieldMaxMs && !signal.aborted; ms += yieldMs)
        await new Promise<void>((resolve) => platform.after(yieldMs, resolve));
      signal.throwIfAborted();
      await work();
    } finally {
      this.#parts--;
      this.#queue.shift()?.();
    }
  }

  async #onFailure(row: UploadRow, error: unknown): Promise<void> {
    const { file, createdAt } = row;
    const { platform, store } = this.#context;
    if (error instanceof LostBytesError) return this.#giveUp(file, "file_not_found");
    const failure = asSyncError(error);
    const { code } = failure;
    if (code === "file_not_found" && (await bringAgain(this.#context, file))) return;
    // Parts that are not there after all are asked for and brought, as after any other failure.
    const isPassing = isWorthRetry(failure) || code === "file_incomplete" || code === "file_part_mismatch";
    if (!isPassing) return this.#giveUp(file, code as ErrorCode);
    const { skew } = await readCursor(store);
    const isOld = createdAt < platform.now() + skew - giveUpMs;
    if (isOld && code !== "offline") return this.#giveUp(file, "unavailable");
    await this.#setState(file, "waiting");
    this.#pause(file, failure.retryAfterMs);
  }

  #pause(file: Uuid, retryAfterMs: number | undefined): void {
    if (this.#isStopped) return;
    const { platform } = this.#context;
    const attempts = (this.#troubles.get(file)?.attempts ?? 0) + 1;
    const trouble: Trouble = { attempts, cancel: undefined };
    trouble.cancel = platform.after(retryAfterMs ?? retryDelayMs(attempts, platform.random), () => {
      trouble.cancel = undefined;
      this.want();
    });
    this.#troubles.set(file, trouble);
  }

  /** From here on only its author can have it sent again. */
  async #giveUp(file: Uuid, error: ErrorCode): Promise<void> {
    const { strict } = this.#context;
    this.#troubles.delete(file);
    await strict.transaction("rw", [strict.outbox, strict.uploads], async () => {
      await this.#setState(file, "failed");
      await strict.naming(file).modify({ state: "failed", error });
    });
  }

  /** The file is with the server; here it stays to be seen. */
  async #finish({ file, size }: UploadRow, state: FileState): Promise<void> {
    const { strict, platform } = this.#context;
    this.#troubles.delete(file);
    await strict.transaction("rw", [strict.outbox, strict.uploads, strict.files], async () => {
      const row = await strict.uploads.get(file);
      if (!row || row.state === "cancelled") return;
      await strict.naming(file).modify((message) => {
        message.body = settleBody(message.body, state);
        if (message.state !== "awaiting") return;
        message.state = "queued";
        message.readyAt = platform.now();
      });
      await strict.files.put({ file, size, usedAt: platform.now() });
      await strict.uploads.delete(file);
    });
    this.#events.ready();
    await boundFiles(this.#context);
  }

  /** Tells the server what nobody wants any more. What it never hears of again it forgets by itself. */
  async #takeBack(): Promise<"done" | "retry"> {
    const { platform, store } = this.#context;
    const rows = await store.uploads
      .filter(({ state, file }) => state === "cancelled" && !this.#running.has(file))
      .toArray();
    for (const { file, announced } of rows) {
      try {
        if (announced) await platform.request({ method: "DELETE", path: filePath(file) });
      } catch (error) {
        if (isWorthRetry(asSyncError(error))) return "retry";
      }
      await store.uploads.delete(file);
    }
    return "done";
  }

  /** A person's pause or cancellation is never overwritten. */
  async #setState(file: Uuid, state: UploadRow["state"]): Promise<void> {
    const { strict } = this.#context;
    await strict.uploads.where("file").equals(file).filter(isGoing).modify({ state });
  }

  #noteProgress(file: Uuid, bytes: number): void {
    const trouble = this.#troubles.get(file);
    const before = this.#sent.get(file);
    if (trouble && before !== undefined && bytes > before) trouble.attempts = 0;
    this.#sent.set(file, bytes);
    this.#cancelProgress ??= this.#context.platform.after(progressMs, () =>
      inBackground(this.#context, this.#tellProgress()),
    );
  }

  /** How far everything under way is, for all tabs. */
  async #tellProgress(): Promise<void> {
    this.#cancelProgress?.();
    this.#cancelProgress = undefined;
    if (this.#isStopped) return;
    const all = [...this.#sent].map(([key, sent]) => ({ key, changes: { sent } }));
    await this.#context.store.uploads.bulkUpdate(all);
  }
}
