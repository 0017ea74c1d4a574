import * as v from "valibot";
import { FileState, filePath, otherType, partBytes, partCount, partPath } from "#contract/files.ts";
import type { Uuid } from "#contract/ids.ts";
import { filePartBytes, filePartsAtOnce } from "#contract/limits.ts";
import type { HttpRequest } from "#contract/wire/http-commands.ts";
import { asSyncError, SyncError } from "#sync/platform/sync-error.ts";
import type { UploadRow } from "#sync/store/database.ts";
import type { SyncContext } from "#sync/store/sync-context.ts";

const partTimeoutMs = 120_000; // three parts side by side at 30 kbit/s
const completeTimeoutMs = 60_000; // the server reads all of it
const fastPartMs = 10_000; // a link that carries a part within this carries several

/** The bytes of a file that was to be sent cannot be read any more. */
export class UnreadableFileError extends Error {}

/** What bringing one file needs of what brings them all. */
export type UploadContext = {
  signal: AbortSignal;
  /** Waits for its turn among all parts, and for messages, which go first. */
  runInTurn(work: () => Promise<void>): Promise<void>;
  /** The link let a part of this file fall: one at a time until one comes through quickly. */
  isSlow: boolean;
  /** A part has arrived. */
  onProgress(bytes: number): void;
};

const requestFileState = async (
  { platform }: SyncContext,
  request: HttpRequest,
  { signal }: UploadContext,
  timeoutMs?: number,
): Promise<FileState> => {
  const answer = await platform.request(request, { signal, ...(timeoutMs === undefined ? {} : { timeoutMs }) });
  const parsed = v.safeParse(FileState, answer);
  if (!parsed.success) throw new SyncError("unavailable");
  return parsed.output;
};

/** Where the server stands with a file; it is announced when the server has not heard of it. */
const announceUpload = async (
  context: SyncContext,
  { file, name, size, announced }: UploadRow,
  way: UploadContext,
): Promise<FileState> => {
  if (announced) {
    try {
      return await requestFileState(context, { method: "GET", path: filePath(file) }, way);
    } catch (error) {
      if (asSyncError(error).code !== "file_not_found") throw error;
    }
  }
  await context.store.uploads.update(file, { announced: true });
  return requestFileState(context, { method: "PUT", path: filePath(file), body: { name, size } }, way);
};

const uploadPart = async (
  { platform }: SyncContext,
  file: Uuid,
  blob: Blob,
  part: number,
  way: UploadContext,
): Promise<void> => {
  // Read before it is sent: bytes that are gone and a link that is gone are not the same.
  const bytes = await blob
    .slice(part * filePartBytes, (part + 1) * filePartBytes)
    .arrayBuffer()
    .catch(() => {
      throw new UnreadableFileError("a part cannot be read");
    });
  const body = new Blob([bytes], { type: otherType });
  const request = { method: "PUT", path: partPath(file, part), body } as const;
  await platform.request(request, { signal: way.signal, raw: true, timeoutMs: partTimeoutMs });
};

/** Brings every part that is missing, several at once. When one fails, those under way end and no other begins. */
const uploadMissingParts = async (
  context: SyncContext,
  { file, size }: UploadRow,
  { received }: FileState,
  way: UploadContext,
) => {
  const blob = (await context.store.blobs.get(file))?.blob;
  if (blob?.size !== size) throw new UnreadableFileError("the file is not here");
  const { platform } = context;
  const here = new Set(received);
  const missing = Array.from({ length: partCount(size) }, (_, part) => part).filter((part) => !here.has(part));
  let sent = received.reduce((sum, part) => sum + partBytes(size, part), 0);
  let failure: unknown;
  const workers: Promise<void>[] = [];
  const work = async (): Promise<void> => {
    for (let part = missing.shift(); part !== undefined; part = missing.shift()) {
      const next = part;
      let began = 0;
      try {
        await way.runInTurn(() => {
          if (failure !== undefined) return Promise.reject(failure);
          began = platform.now();
          return uploadPart(context, file, blob, next, way);
        });
      } catch (error) {
        failure ??= error;
        return;
      }
      sent += partBytes(size, part);
      way.onProgress(sent);
      if (platform.now() - began < fastPartMs) widen(filePartsAtOnce);
    }
  };
  const widen = (atOnce: number) => {
    while (workers.length < atOnce && failure === undefined && missing.length > 0) workers.push(work());
  };
  way.onProgress(sent);
  widen(way.isSlow ? 1 : filePartsAtOnce);
  for (let i = 0; i < workers.length; i++) await workers[i];
  if (failure !== undefined) throw failure;
};

/** Brings a file from wherever it stands to the end. What the server has is not sent again. */
export const uploadFile = async (context: SyncContext, row: UploadRow, way: UploadContext): Promise<FileState> => {
  const state = await announceUpload(context, row, way);
  if (state.ready) return state;
  await uploadMissingParts(context, row, state, way);
  const done = await requestFileState(
    context,
    { method: "POST", path: `${filePath(row.file)}/complete` },
    way,
    completeTimeoutMs,
  );
  if (!done.ready) throw new SyncError("unavailable");
  return done;
};
