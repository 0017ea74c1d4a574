import type { AccountDeletion } from "../../contract/account";
import type { Uuid } from "../../contract/ids";
import { ApiFailure, exchange } from "./exchange";
import { endSession, getSession, isNearExpiry, wasDeleted } from "./session";
import { inOneTab, refreshSession } from "./session-refresh";

// Each throws `ApiFailure`.

const signOutTimeoutMs = 15_000; // of each of two tries

/** Asked once more where no answer came: what was lost may have been the answer alone. */
const insist = (ask: () => Promise<unknown>): Promise<unknown> =>
  ask().catch((error: unknown) => {
    if (error instanceof ApiFailure && error.code === "offline") return ask();
    throw error;
  });

/** A session the server no longer knows is ended already. */
const endOnServer = async (): Promise<void> => {
  try {
    await exchange("POST", "/api/auth/logout?scope=global", undefined, { timeoutMs: signOutTimeoutMs });
  } catch (error) {
    if (!(error instanceof ApiFailure) || (error.status !== 401 && error.status !== 404)) throw error;
  }
};

/**
 * Ends every session of this person, on all devices. No tab renews meanwhile: the server closes the sockets before it
 * answers, and whoever asked why would be refused, or bring back what has just ended.
 */
export const signOut = (): Promise<void> =>
  inOneTab(async () => {
    await insist(endOnServer);
    endSession("person");
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
