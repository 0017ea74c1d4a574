import { FactorChallenge } from "#contract/auth/factors.ts";
import { FactorReset } from "#contract/auth/security.ts";
import type { Uuid } from "#contract/ids.ts";
import { request } from "#lib/http/api.ts";
import { ApiFailure, exchange } from "#lib/http/http-request.ts";
import { readAnswer } from "#lib/http/parse-response.ts";
import { getSession, isNearExpiry, type Opened } from "#lib/session/session.ts";
import { refreshSession } from "#lib/session/session-refresh.ts";
import { openSession } from "#lib/session/sign-in.ts";

/**
 * Showing that one is oneself in the session there is: as the second step it owes, or once more before what asks for it.
 * Each throws `ApiFailure`. Passkeys are in `passkeys.ts`.
 */
const show = async (path: string, body: unknown): Promise<Opened> => {
  const session = getSession(); // none where the session still owes its step
  if (session && isNearExpiry(session)) await refreshSession();
  try {
    return await openSession(path, body);
  } catch (error) {
    if (!isOver(error) || !session || !(await refreshSession(true))) throw error;
    return openSession(path, body);
  }
};

/** Whether the session in which one was to show it is no more. */
export const isOver = (error: unknown): boolean => error instanceof ApiFailure && error.status === 401;

/** A code of a code app, as it shows it now. */
export const showCode = async (app: Uuid, code: string): Promise<Opened> => {
  const { id } = readAnswer(FactorChallenge, await request("POST", `/api/auth/factors/${app}/challenge`, {}));
  return show(`/api/auth/factors/${app}/verify`, { challenge_id: id, code });
};

export const showRecoveryCode = (code: string): Promise<Opened> => show("/api/auth/recovery-codes/verify", { code });

export const showPassword = (password: string): Promise<Opened> => show("/api/auth/proof", { password });

/** Asks that the second step be taken away, by whoever owes it and has lost it. */
export const askReset = async (): Promise<FactorReset> =>
  readAnswer(FactorReset, await request("POST", "/api/auth/factors/reset"));

/** Ends a session that owes its step. It would end by itself soon: nothing is lost where nobody hears of it. */
export const leaveHalfway = async (): Promise<void> => {
  await exchange("POST", "/api/auth/logout?scope=local").catch(() => undefined);
};
