import type { ErrorCode } from "../../contract/errors";

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
