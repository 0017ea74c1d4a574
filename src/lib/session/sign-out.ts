import type { AccountDeletion } from "#contract/auth/account.ts";
import type { Uuid } from "#contract/ids.ts";
import { ApiRequestError, sendHttpRequest } from "#lib/http/http-request.ts";
import { type SignOutScope, savePendingSignOut, signOutOnServer } from "./pending-sign-out.ts";
import { endSession, getSession, getSessionEndCause, isNearExpiry } from "./session.ts";
import { refreshSession, withSessionLock } from "./session-refresh.ts";

// Each function throws `ApiRequestError`.

const signOutTimeoutMs = 15_000; // for each of two attempts

/** Retries once without a response, since only the response may have been lost. */
const retryOnce = (send: () => Promise<unknown>): Promise<unknown> =>
  send().catch((error: unknown) => {
    if (error instanceof ApiRequestError && error.code === "offline") return send();
    throw error;
  });

/** Whether the server could not be reached, or not now. */
const isServerUnreachable = (error: unknown): boolean =>
  error instanceof ApiRequestError && ["offline", "unavailable", "rate_limited"].includes(error.code);

/**
 * Ends the session of this device, or all sessions of this person (`global`). Offline it ends here at once and on the
 * server once that is reachable; the result is false then. No tab renews meanwhile: the server closes the sockets
 * before it responds, and a tab that renews then would be refused, or restore the session that has just ended.
 */
export const signOut = (scope: SignOutScope): Promise<boolean> =>
  withSessionLock(async () => {
    const userId = getSession()?.userId;
    let isConfirmed = true;
    try {
      if (userId !== undefined) await signOutOnServer({ userId, scope });
    } catch (error) {
      if (!isServerUnreachable(error) || userId === undefined) throw error;
      savePendingSignOut({ userId, scope });
      isConfirmed = false;
    }
    endSession("person");
    return isConfirmed;
  });

const deleteAccountOnServer = (userId: Uuid): Promise<unknown> =>
  sendHttpRequest("DELETE", "/api/account", { user_id: userId } satisfies AccountDeletion, {
    timeoutMs: signOutTimeoutMs,
  });

/** Deletes this person's account and with it every session. Idempotent. No tab renews meanwhile. */
const deleteAccountAndSession = (userId: Uuid): Promise<void> =>
  withSessionLock(async () => {
    await retryOnce(() => deleteAccountOnServer(userId));
    endSession("account");
  });

export const deleteAccount = async (userId: Uuid): Promise<void> => {
  const session = getSession();
  if (session && isNearExpiry(session)) await refreshSession();
  try {
    await deleteAccountAndSession(userId);
  } catch (error) {
    if (!(error instanceof ApiRequestError) || error.status !== 401) throw error;
    // Either only this session has ended, or an earlier deletion succeeded without a response.
    if (await refreshSession(true)) await deleteAccountAndSession(userId);
    else if (getSessionEndCause() !== "account") throw error;
  }
};
