import { type ErrorCode, isPermanentError } from "#contract/errors.ts";

/** Error code of the server, `offline` if it was not reached, or `no_room` if the device's storage is full. */
export type FailureCode = ErrorCode | "offline" | "no_room";

/** Failure of an action. */
export class SyncError extends Error {
  readonly code: FailureCode;
  readonly retryAfterMs: number | undefined;
  constructor(code: FailureCode, retryAfterMs?: number) {
    super(code);
    this.name = "SyncError";
    this.code = code;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Wraps any other error as `internal`, which may be retried. */
export const asSyncError = (error: unknown): SyncError =>
  error instanceof SyncError ? error : new SyncError("internal");

export const isRetryableFailure = ({ code }: SyncError): boolean =>
  code === "offline" || (code !== "no_room" && !isPermanentError(code));
