import type { AccountDeletion } from "#contract/auth/account.ts";
import type { Uuid } from "#contract/ids.ts";
import { ApiRequestError, sendHttpRequest } from "#lib/http/http-request.ts";
import { type SignOutScope, savePendingSignOut, signOutOnServer } from "./pending-sign-out.ts";
import { endSession, getSession, isNearExpiry, wasAccountDeleted } from "./session.ts";
import { refreshSession, withSessionLock } from "./session-refresh.ts";

// Each throws `ApiFailure`.

const signOutTimeoutMs = 15_000; // of each of two tries

/** Asked once more where no answer came: what was lost may have been the answer alone. */
const retryOnce = (ask: () => Promise<unknown>): Promise<unknown> =>
  ask().catch((error: unknown) => {
    if (error instanceof ApiRequestError && error.code === "offline") return ask();
    throw error;
  });

/** That the server could not be asked, or not now. */
const isServerUnreachable = (error: unknown): boolean =>
  error instanceof ApiRequestError && ["offline", "unavailable", "rate_limited"].includes(error.code);

/**
 * Ends the session of this device, or every one of this person (`global`). Without a network it ends here at once, and on the
 * server as soon as that can be reached: false then. No tab renews meanwhile: the server closes the sockets before it
 * answers, and whoever asked why would be refused, or bring back what has just ended.
 */
export const signOut = (scope: SignOutScope): Promise<boolean> =>
  withSessionLock(async () => {
    const userId = getSession()?.userId;
    let isHeard = true;
    try {
      if (userId !== undefined) await signOutOnServer({ userId, scope });
    } catch (error) {
      if (!isServerUnreachable(error) || userId === undefined) throw error;
      savePendingSignOut({ userId, scope });
      isHeard = false;
    }
    endSession("person");
    return isHeard;
  });

const deleteAccountOnServer = (userId: Uuid): Promise<unknown> =>
  sendHttpRequest("DELETE", "/api/account", { user_id: userId } satisfies AccountDeletion, {
    timeoutMs: signOutTimeoutMs,
  });

/** Deletes this person's account and with it every session. Done twice it is done. No tab renews meanwhile. */
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
    // Only this session has ended, or the account did before and nobody heard of it.
    if (await refreshSession(true)) await deleteAccountAndSession(userId);
    else if (!wasAccountDeleted()) throw error;
  }
};
