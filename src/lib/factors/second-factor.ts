import { FactorChallenge } from "#contract/auth/factors.ts";
import { FactorReset } from "#contract/auth/security.ts";
import type { Uuid } from "#contract/ids.ts";
import { requestApi } from "#lib/http/api.ts";
import { ApiRequestError, sendHttpRequest } from "#lib/http/http-request.ts";
import { parseResponse } from "#lib/http/parse-response.ts";
import { getSession, isNearExpiry, type OpenedSession } from "#lib/session/session.ts";
import { refreshSession } from "#lib/session/session-refresh.ts";
import { openSession } from "#lib/session/sign-in.ts";

/**
 * Submits a factor in the current session: as its pending second factor, or as a step-up. Each function throws
 * `ApiRequestError`. Passkeys are in `passkeys.ts`.
 */
const submitFactor = async (path: string, body: unknown): Promise<OpenedSession> => {
  const session = getSession(); // undefined while the second factor is pending
  if (session && isNearExpiry(session)) await refreshSession();
  try {
    return await openSession(path, body);
  } catch (error) {
    if (!isSessionEndedError(error) || !session || !(await refreshSession(true))) throw error;
    return openSession(path, body);
  }
};

/** Whether the error means that the session has ended. */
export const isSessionEndedError = (error: unknown): boolean =>
  error instanceof ApiRequestError && error.status === 401;

/** Submits the current code of a code app. */
export const submitTotp = async (app: Uuid, code: string): Promise<OpenedSession> => {
  const { id } = parseResponse(FactorChallenge, await requestApi("POST", `/api/auth/factors/${app}/challenge`, {}));
  return submitFactor(`/api/auth/factors/${app}/verify`, { challenge_id: id, code });
};

export const submitRecoveryCode = (code: string): Promise<OpenedSession> =>
  submitFactor("/api/auth/recovery-codes/verify", { code });

export const submitPassword = (password: string): Promise<OpenedSession> =>
  submitFactor("/api/auth/proof", { password });

/** Requests the removal of a lost second factor, from a session that still waits for it. */
export const requestSecondFactorReset = async (): Promise<FactorReset> =>
  parseResponse(FactorReset, await requestApi("POST", "/api/auth/factors/reset"));

/** Ends a session with a pending second factor. It expires soon by itself, so a failed request does not matter. */
export const endPendingSession = async (): Promise<void> => {
  await sendHttpRequest("POST", "/api/auth/logout?scope=local").catch(() => undefined);
};
