import * as v from "valibot";
import { personHeader } from "#contract/auth/auth.ts";
import { Uuid } from "#contract/ids.ts";
import { ApiRequestError, sendHttpRequest } from "#lib/http/http-request.ts";
import { pendingSignOutKey } from "./pending-sign-out-key.ts";

/**
 * Offline sign-out that the server does not know about yet. The person's data is already deleted from this device; only
 * the cookies, which scripts cannot delete, would still open the session. It ends as soon as the server is reachable,
 * and before the next sign-in on this browser.
 */
export type SignOutScope = "local" | "global";
const PendingSignOut = v.object({ userId: Uuid, scope: v.picklist(["local", "global"]) });
type PendingSignOut = v.InferOutput<typeof PendingSignOut>;

const signOutRequestTimeoutMs = 8_000;

export const savePendingSignOut = (pending: PendingSignOut): void => {
  try {
    localStorage.setItem(pendingSignOutKey, JSON.stringify(pending));
  } catch {
    // Storage is full or forbidden: the session expires by itself.
  }
};

export const findPendingSignOut = (): PendingSignOut | undefined => {
  try {
    const parsed = v.safeParse(PendingSignOut, JSON.parse(localStorage.getItem(pendingSignOutKey) ?? "null"));
    return parsed.success ? parsed.output : undefined;
  } catch {
    return undefined;
  }
};

export const clearPendingSignOut = (): void => {
  try {
    localStorage.removeItem(pendingSignOutKey);
  } catch {
    // Storage is forbidden: nothing is saved.
  }
};

/**
 * Ends the session on the server, only for this person; a session unknown to the server counts as ended. Throws
 * `ApiRequestError`.
 */
export const signOutOnServer = async ({ userId, scope }: PendingSignOut): Promise<void> => {
  try {
    const headers = { [personHeader]: userId };
    await sendHttpRequest("POST", `/api/auth/logout?scope=${scope}`, undefined, {
      headers,
      timeoutMs: signOutRequestTimeoutMs,
    });
  } catch (error) {
    if (!(error instanceof ApiRequestError) || (error.status !== 401 && error.status !== 404)) throw error;
  }
};

/** Completes a pending sign-out; failures are retried later. Call it under the session lock (`withSessionLock`). */
export const completePendingSignOut = async (): Promise<void> => {
  const pending = findPendingSignOut();
  if (!pending) return;
  try {
    await signOutOnServer(pending);
    clearPendingSignOut();
  } catch {
    // A temporary failure of the network or the server.
  }
};
