import { type ErrorCode, isPermanentError } from "#contract/errors.ts";

/** The server's code, `offline` when it was not reached, or `no_room` when the phone is full. */
export type FailureCode = ErrorCode | "offline" | "no_room";

/** Why an action could not be carried out. */
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

/** Whatever went wrong besides is ours, and may be over the next time. */
export const asSyncError = (error: unknown): SyncError =>
  error instanceof SyncError ? error : new SyncError("internal");

export const isRetryableFailure = ({ code }: SyncError): boolean =>
  code === "offline" || (code !== "no_room" && !isPermanentError(code));
