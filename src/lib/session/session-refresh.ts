import { isPermanentError } from "#contract/errors.ts";
import { sleep } from "#lib/browser/time/sleep.ts";
import { ApiRequestError, sendHttpRequest } from "#lib/http/http-request.ts";
import { type ClientSession, clearSession, endSession, getSession, isNearExpiry, saveSession } from "./session.ts";
import { sessionLock } from "./session-lock.ts";

const refreshStepMs = 200; // SPEC.md §9
const refreshRetriesMax = 6; // 200 ms, 400 ms … 6.4 s: 12.6 s in all, then the next request tries again

const isFinalError = (failure: ApiRequestError): boolean =>
  failure.code !== "offline" && (failure.status === 401 || isPermanentError(failure.code));

/** Runs work under a lock shared by all tabs, so that no tab renews the session while another opens or ends it. */
export const withSessionLock = <T>(work: () => Promise<T>): Promise<T> =>
  "locks" in navigator ? navigator.locks.request(sessionLock, work) : work();

/** One renewal attempt, skipped if another tab renewed the session since `before`. Temporary failures are returned. */
const tryRefresh = async (before: ClientSession, refused: boolean): Promise<boolean | ApiRequestError> => {
  const current = getSession();
  if (!current) return false;
  const wasRenewedMeanwhile = current !== before;
  if (!isNearExpiry(current) && (wasRenewedMeanwhile || !refused)) return true;
  try {
    const { awaits } = saveSession(
      await sendHttpRequest("POST", "/api/auth/token?grant_type=refresh_token", {}),
      "TOKEN_REFRESHED",
    );
    return awaits === undefined;
  } catch (error) {
    if (!(error instanceof ApiRequestError)) throw error;
    if (!isFinalError(error)) return error;
    // Only the refused session is dropped: another tab may have signed in during the request.
    if (getSession() === current) {
      if (error.code === "account_deleted") endSession("account");
      else if (error.code === "session_revoked") endSession("elsewhere");
      else clearSession();
    }
    return false;
  }
};

let pendingRefresh: Promise<boolean> | undefined;

/**
 * Renews the session; returns true if it is fresh afterwards. Attempts are serialized across tabs: a tab that had to
 * wait finds the work done, and a sign-out waits for at most one attempt. `refused` means that the server refused this
 * session although it looks fresh. Network errors keep the session and are retried; a refusal drops it.
 */
export const refreshSession = (refused = false): Promise<boolean> => {
  pendingRefresh ??= (async () => {
    const before = getSession();
    if (!before) return false;
    for (let attempt = 0; ; attempt++) {
      const outcome = await withSessionLock(() => tryRefresh(before, refused));
      if (typeof outcome === "boolean") return outcome;
      if (attempt === refreshRetriesMax) return false;
      await sleep(Math.max(refreshStepMs * 2 ** attempt, outcome.retryAfterMs ?? 0));
    }
  })().finally(() => {
    pendingRefresh = undefined;
  });
  return pendingRefresh;
};
