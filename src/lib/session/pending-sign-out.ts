import * as v from "valibot";
import { personHeader } from "#contract/auth/auth.ts";
import { Uuid } from "#contract/ids.ts";
import { ApiRequestError, sendHttpRequest } from "#lib/http/http-request.ts";
import { pendingSignOutKey } from "./pending-sign-out-key.ts";

/**
 * A sign-out that the server has not heard of: it was asked without a network. Nothing of the person is left on this
 * device; only the cookies, which no script can remove, would still open their session. It is ended as soon as the server
 * can be reached, and before anybody signs in here again.
 */
export type SignOutScope = "local" | "global";
const PendingSignOut = v.object({ userId: Uuid, scope: v.picklist(["local", "global"]) });
type PendingSignOut = v.InferOutput<typeof PendingSignOut>;

const signOutRequestTimeoutMs = 8_000;

export const savePendingSignOut = (pending: PendingSignOut): void => {
  try {
    localStorage.setItem(pendingSignOutKey, JSON.stringify(pending));
  } catch {
    // Storage is full or forbidden: the session ends by itself when its time is over.
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
    // Storage is forbidden: nothing is there.
  }
};

/** Ends it on the server, of this person alone; a session that the server no longer knows is ended already. Throws `ApiFailure`. */
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

/** Ends what is still to be ended; what fails is left for the next time. While no tab opens a session (`inOneTab`). */
export const completePendingSignOut = async (): Promise<void> => {
  const pending = findPendingSignOut();
  if (!pending) return;
  try {
    await signOutOnServer(pending);
    clearPendingSignOut();
  } catch {
    // The network, or the server, for the moment.
  }
};
