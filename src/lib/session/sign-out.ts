import type { AccountDeletion } from "#contract/auth/account.ts";
import type { Uuid } from "#contract/ids.ts";
import { ApiFailure, exchange } from "#lib/http/http-request.ts";
import { endOnServer, keepPendingSignOut, type SignOutScope } from "./pending-sign-out.ts";
import { endSession, getSession, isNearExpiry, wasDeleted } from "./session.ts";
import { inOneTab, refreshSession } from "./session-refresh.ts";

// Each throws `ApiFailure`.

const signOutTimeoutMs = 15_000; // of each of two tries

/** Asked once more where no answer came: what was lost may have been the answer alone. */
const insist = (ask: () => Promise<unknown>): Promise<unknown> =>
  ask().catch((error: unknown) => {
    if (error instanceof ApiFailure && error.code === "offline") return ask();
    throw error;
  });

/** That the server could not be asked, or not now. */
const isUnreached = (error: unknown): boolean =>
  error instanceof ApiFailure && ["offline", "unavailable", "rate_limited"].includes(error.code);

/**
 * Ends the session of this device, or every one of this person (`global`). Without a network it ends here at once, and on the
 * server as soon as that can be reached: false then. No tab renews meanwhile: the server closes the sockets before it
 * answers, and whoever asked why would be refused, or bring back what has just ended.
 */
export const signOut = (scope: SignOutScope): Promise<boolean> =>
  inOneTab(async () => {
    const userId = getSession()?.userId;
    let isHeard = true;
    try {
      if (userId !== undefined) await endOnServer({ userId, scope });
    } catch (error) {
      if (!isUnreached(error) || userId === undefined) throw error;
      keepPendingSignOut({ userId, scope });
      isHeard = false;
    }
    endSession("person");
    return isHeard;
  });

const deleteOnServer = (userId: Uuid): Promise<unknown> =>
  exchange("DELETE", "/api/account", { user_id: userId } satisfies AccountDeletion, { timeoutMs: signOutTimeoutMs });

/** Deletes this person's account and with it every session. Done twice it is done. No tab renews meanwhile. */
const endAccount = (userId: Uuid): Promise<void> =>
  inOneTab(async () => {
    await insist(() => deleteOnServer(userId));
    endSession("account");
  });

export const deleteAccount = async (userId: Uuid): Promise<void> => {
  const session = getSession();
  if (session && isNearExpiry(session)) await refreshSession();
  try {
    await endAccount(userId);
  } catch (error) {
    if (!(error instanceof ApiFailure) || error.status !== 401) throw error;
    // Only this session has ended, or the account did before and nobody heard of it.
    if (await refreshSession(true)) await endAccount(userId);
    else if (!wasDeleted()) throw error;
  }
};
