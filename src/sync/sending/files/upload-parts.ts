import * as v from "valibot";
import { FileState, filePath, otherType, partBytes, partCount, partPath } from "#contract/files.ts";
import type { Uuid } from "#contract/ids.ts";
import { filePartBytes, filePartsAtOnce } from "#contract/limits/files.ts";
import type { HttpRequest } from "#contract/wire/http-commands.ts";
import { asSyncError, SyncError } from "#sync/platform/sync-error.ts";
import { commitUnsent, type SyncContext } from "#sync/store/sync-context.ts";
import type { UploadRow } from "#sync/unsent/attachment-rows.ts";
import { changeUpload } from "#sync/unsent/uploads.ts";

const partTimeoutMs = 120_000; // three parts side by side at 30 kbit/s
const completeTimeoutMs = 60_000; // the server reads the whole file
const fastPartMs = 10_000; // a link that carries one part within this time carries several at once

/** The bytes of a chosen file can no longer be read on this device. */
export class UnreadableFileError extends Error {}

/** Control of one upload by the uploader, which shares the link among all uploads. */
export type UploadContext = {
  signal: AbortSignal;
  /** Runs `work` when a part may be sent: parts of all files are limited, and messages go first. */
  runInTurn(work: () => Promise<void>): Promise<void>;
  /** A part of this file failed before, so parts are sent one at a time until one is fast. */
  isSlow: boolean;
  /** Called with the bytes that the server has. */
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

/** Reads the server's state of a file and announces the file if the server does not know it. Throws a SyncError. */
const announceUpload = async (
  context: SyncContext,
  { file, name, size, announced }: UploadRow,
  upload: UploadContext,
): Promise<FileState> => {
  if (announced) {
    try {
      return await requestFileState(context, { method: "GET", path: filePath(file) }, upload);
    } catch (error) {
      if (asSyncError(error).code !== "file_not_found") throw error;
    }
  }
  await commitUnsent(context, [changeUpload(file, context.platform.now(), (row) => ({ ...row, announced: true }))]);
  return requestFileState(context, { method: "PUT", path: filePath(file), body: { name, size } }, upload);
};

const uploadPart = async (
  { platform }: SyncContext,
  file: Uuid,
  blob: Blob,
  part: number,
  upload: UploadContext,
): Promise<void> => {
  // Read before sending, to tell an unreadable file from a lost connection.
  const bytes = await blob
    .slice(part * filePartBytes, (part + 1) * filePartBytes)
    .arrayBuffer()
    .catch(() => {
      throw new UnreadableFileError("a part cannot be read");
    });
  const body = new Blob([bytes], { type: otherType });
  const request = { method: "PUT", path: partPath(file, part), body } as const;
  await platform.request(request, { signal: upload.signal, isRawBody: true, timeoutMs: partTimeoutMs });
};

/**
 * Uploads all parts that the server lacks, several at once. After the first failure, parts in flight finish and no
 * other starts; then it is thrown.
 */
const uploadMissingParts = async (
  context: SyncContext,
  { file, size }: UploadRow,
  { received }: FileState,
  upload: UploadContext,
) => {
  const blob = await context.unsent.bytes.get(file);
  if (blob?.size !== size) throw new UnreadableFileError("the file is not here");
  const { platform } = context;
  const receivedParts = new Set(received);
  const missing = Array.from({ length: partCount(size) }, (_, part) => part).filter((part) => !receivedParts.has(part));
  let sent = received.reduce((sum, part) => sum + partBytes(size, part), 0);
  let failure: unknown;
  const workers: Promise<void>[] = [];
  const runWorker = async (): Promise<void> => {
    for (let part = missing.shift(); part !== undefined; part = missing.shift()) {
      const next = part;
      let startedAt = 0;
      try {
        await upload.runInTurn(() => {
          if (failure !== undefined) return Promise.reject(failure);
          startedAt = platform.now();
          return uploadPart(context, file, blob, next, upload);
        });
      } catch (error) {
        failure ??= error;
        return;
      }
      sent += partBytes(size, part);
      upload.onProgress(sent);
      if (platform.now() - startedAt < fastPartMs) startWorkers(filePartsAtOnce);
    }
  };
  const startWorkers = (count: number) => {
    while (workers.length < count && failure === undefined && missing.length > 0) workers.push(runWorker());
  };
  upload.onProgress(sent);
  startWorkers(upload.isSlow ? 1 : filePartsAtOnce);
  for (let i = 0; i < workers.length; i++) await workers[i];
  if (failure !== undefined) throw failure;
};

/** Uploads the parts of a file that the server lacks. Throws a SyncError or UnreadableFileError. */
export const uploadFile = async (context: SyncContext, row: UploadRow, upload: UploadContext): Promise<FileState> => {
  const state = await announceUpload(context, row, upload);
  if (state.ready) return state;
  await uploadMissingParts(context, row, state, upload);
  const done = await requestFileState(
    context,
    { method: "POST", path: `${filePath(row.file)}/complete` },
    upload,
    completeTimeoutMs,
  );
  if (!done.ready) throw new SyncError("unavailable");
  return done;
};
