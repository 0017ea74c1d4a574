import { type ErrorCode, isPermanent } from "../../contract/errors";

/** Why an action could not be carried out: the server's code, or `offline` when it was not reached. */
export class SyncError extends Error {
  readonly code: ErrorCode | "offline";
  readonly retryAfterMs: number | undefined;
  constructor(code: ErrorCode | "offline", retryAfterMs?: number) {
    super(code);
    this.name = "SyncError";
    this.code = code;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Whatever went wrong besides is ours, and may be over the next time. */
export const asSyncError = (error: unknown): SyncError =>
  error instanceof SyncError ? error : new SyncError("internal");

export const isWorthRetry = ({ code }: SyncError): boolean => code === "offline" || !isPermanent(code);
