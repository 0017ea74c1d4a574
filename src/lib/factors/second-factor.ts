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
 * Showing that one is oneself in the session there is: as the second step it owes, or once more before what asks for it.
 * Each throws `ApiFailure`. Passkeys are in `passkeys.ts`.
 */
const submitFactor = async (path: string, body: unknown): Promise<OpenedSession> => {
  const session = getSession(); // none where the session still owes its step
  if (session && isNearExpiry(session)) await refreshSession();
  try {
    return await openSession(path, body);
  } catch (error) {
    if (!isSessionEndedError(error) || !session || !(await refreshSession(true))) throw error;
    return openSession(path, body);
  }
};

/** Whether the session in which one was to show it is no more. */
export const isSessionEndedError = (error: unknown): boolean =>
  error instanceof ApiRequestError && error.status === 401;

/** A code of a code app, as it shows it now. */
export const submitTotp = async (app: Uuid, code: string): Promise<OpenedSession> => {
  const { id } = parseResponse(FactorChallenge, await requestApi("POST", `/api/auth/factors/${app}/challenge`, {}));
  return submitFactor(`/api/auth/factors/${app}/verify`, { challenge_id: id, code });
};

export const submitRecoveryCode = (code: string): Promise<OpenedSession> =>
  submitFactor("/api/auth/recovery-codes/verify", { code });

export const submitPassword = (password: string): Promise<OpenedSession> =>
  submitFactor("/api/auth/proof", { password });

/** Asks that the second step be taken away, by whoever owes it and has lost it. */
export const requestSecondFactorReset = async (): Promise<FactorReset> =>
  parseResponse(FactorReset, await requestApi("POST", "/api/auth/factors/reset"));

/** Ends a session that owes its step. It would end by itself soon: nothing is lost where nobody hears of it. */
export const endPendingSession = async (): Promise<void> => {
  await sendHttpRequest("POST", "/api/auth/logout?scope=local").catch(() => undefined);
};
