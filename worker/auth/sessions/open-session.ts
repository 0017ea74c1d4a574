import { eq } from "drizzle-orm";
import { type SecondStep, type Session, sessionTransportHeader } from "#contract/auth/auth.ts";
import type { Uuid } from "#contract/ids.ts";
import { accessTokenSeconds } from "#contract/limits/authentication.ts";
import { purgeExpiredInBackground } from "#worker/auth/purge-expired.ts";
import { findAccount, findOwnCredentials, toAuthUser, toPendingUser, type UserAccount } from "#worker/auth/queries.ts";
import {
  type AuthMethod,
  findMissingSteps,
  findSecondFactors,
  toAssurance,
} from "#worker/auth/second-factor/assurance.ts";
import { applyDueFactorReset, cancelFactorReset } from "#worker/auth/second-factor/factor-reset.ts";
import {
  type AuthPreconditions,
  joinPreconditions,
  noPreconditions,
  toPasswordPreconditions,
  toPendingSessionPreconditions,
} from "#worker/auth/second-factor/preconditions.ts";
import { sendSecurityNotice } from "#worker/auth/security-notices.ts";
import { type Db, openDb } from "#worker/db/client.ts";
import { sessions } from "#worker/db/schema.ts";
import { signAccessToken } from "#worker/lib/http/access-token.ts";
import { type AppContext, runAfterResponse } from "#worker/lib/http/app.ts";
import { isSessionLive } from "#worker/lib/http/authenticate.ts";
import { setSessionCookies } from "#worker/lib/http/cookies.ts";
import { hashLimitKey } from "#worker/lib/limits/hashed-key.ts";
import { rememberDevice } from "#worker/lib/limits/known-device.ts";
import { getClientAddress } from "#worker/lib/limits/rate-limit.ts";
import { closeSockets } from "./close-sockets.ts";
import { findCookieSession } from "./current-session.ts";
import { readDeviceName } from "./device-name.ts";
import {
  createSessionRow,
  createSessionTokens,
  endSessions,
  insertSession,
  type SessionRow,
  type SessionTokens,
  stepUpSession,
} from "./sessions.ts";

export const usesCookies = (c: AppContext): boolean => c.req.header(sessionTransportHeader) === "cookie";

/**
 * Tests how a request was authenticated. A session delivered in cookies stays in cookies: a script cannot obtain its
 * tokens by omitting a header.
 */
const wasAuthenticatedByCookie = (c: AppContext): boolean =>
  c.var.caller !== undefined && c.req.header("authorization") === undefined;

const respondsWithCookies = (c: AppContext): boolean => usesCookies(c) || wasAuthenticatedByCookie(c);

/**
 * Session response in the transport the client chose: tokens in the body, or in cookies with empty strings in the body.
 */
export const toSession = async (
  c: AppContext,
  user: UserAccount,
  tokens: SessionTokens,
  missingSteps?: SecondStep[],
): Promise<Session> => {
  const now = Date.now();
  const { session, generation, refresh_token } = tokens;
  const claims = { sub: user.id, sid: session, gen: generation };
  const access_token = await signAccessToken(c.env, claims, now, toAssurance(tokens));
  purgeExpiredInBackground(c, user.id);
  const inCookies = respondsWithCookies(c);
  if (inCookies) setSessionCookies(c, { access_token, refresh_token });
  return {
    access_token: inCookies ? "" : access_token,
    refresh_token: inCookies ? "" : refresh_token,
    token_type: "bearer",
    expires_in: accessTokenSeconds,
    expires_at: Math.floor(now / 1_000) + accessTokenSeconds,
    user: missingSteps ? toPendingUser(user) : toAuthUser(user),
    ...(missingSteps ? { awaits: missingSteps } : {}),
  };
};

/** Showing a second factor proves that it is not lost, so a pending removal is cancelled. */
const cancelResetAndNotify = async (c: AppContext, user: Uuid): Promise<void> => {
  if (await cancelFactorReset(openDb(c.env), user)) {
    sendSecurityNotice(c, user, { event: "reset_cancelled", session: null, device: readDeviceName(c) });
  }
};

const applyResetAndNotify = async (c: AppContext, user: Uuid, preconditions: AuthPreconditions): Promise<void> => {
  if (await applyDueFactorReset(openDb(c.env), user, preconditions)) {
    sendSecurityNotice(c, user, { event: "reset_done", session: null, device: readDeviceName(c) });
  }
};

/** Second factors that a pending session may show. Empty if none is required any more: the person signs in again. */
export const listMissingSteps = async (db: Db, { user_id, methods }: Pick<SessionRow, "user_id" | "methods">) =>
  findMissingSteps(methods, await findSecondFactors(db, user_id)) ?? [];

/** Ends the session of the cookies that are being replaced, because nobody can use it any more (ASVS 7.2.4). */
const revokeReplacedSession = async (c: AppContext): Promise<void> => {
  const replaced = respondsWithCookies(c) ? await findCookieSession(c) : undefined;
  if (!replaced) return;
  const ended = await endSessions(openDb(c.env), replaced.user_id, { only: replaced.id });
  await closeSockets(c.env, replaced.user_id, ended);
};

/** Creates a session on this device. Returns undefined if the preconditions no longer hold. */
const createSession = async (
  c: AppContext,
  user: UserAccount,
  methods: string,
  preconditions: AuthPreconditions,
  isNew = false,
): Promise<Session | undefined> => {
  const db = openDb(c.env);
  const now = Date.now();
  // A provider's assertion is no reauthentication with this service.
  const proved_at = methods === "oauth" ? 0 : now;
  const network = hashLimitKey(c.env, `${user.id} ${getClientAddress(c.req.raw)}`);
  const row = createSessionRow(user.id, now, { device: readDeviceName(c), methods, proved_at, network });
  const inserted = await insertSession(db, row, preconditions);
  if (!inserted) return undefined;
  const { session, ended } = inserted;
  runAfterResponse(c.executionCtx, "end the session this one replaces", revokeReplacedSession(c));
  const tokens = createSessionTokens(c.env, session);
  if (respondsWithCookies(c) && !session.awaits) rememberDevice(c, user.id);
  if (session.awaits) return toSession(c, user, tokens, await listMissingSteps(db, session));
  runAfterResponse(c.executionCtx, "close the sockets of the oldest session", closeSockets(c.env, user.id, ended));
  if (!isNew) sendSecurityNotice(c, user.id, { event: "signed_in", session: session.id, device: session.device });
  return toSession(c, user, tokens);
};

/** Signs in the owner of a new account, without a notice to other devices. */
export const startFirstSession = async (c: AppContext, user: UserAccount): Promise<Session> => {
  const session = await createSession(c, user, "password", noPreconditions, true);
  if (!session) throw new Error("a session without preconditions was refused");
  return session;
};

/**
 * Signs a person in with a verified factor. The eleventh device replaces the oldest. If a second factor is required,
 * the session is pending. Returns undefined if the preconditions no longer hold.
 */
export const startSession = async (
  c: AppContext,
  user: UserAccount,
  method: AuthMethod,
  preconditions: AuthPreconditions,
): Promise<Session | undefined> => {
  if (method !== "passkey") await applyResetAndNotify(c, user.id, preconditions);
  const session = await createSession(c, user, method, preconditions);
  if (session && method === "passkey") await cancelResetAndNotify(c, user.id);
  return session;
};

/**
 * Accepts a verified factor in a session. A pending session is replaced by a full one. A full session is
 * reauthenticated for the next minutes, with new tokens. Returns "refused" if the preconditions no longer hold.
 */
export const acceptFactor = async (
  c: AppContext,
  method: AuthMethod,
  preconditions: AuthPreconditions,
): Promise<Session | "session_not_found" | "refused"> => {
  const { user: id, session } = c.var.caller;
  const db = openDb(c.env);
  const [user, credentials, state] = await Promise.all([
    findAccount(db, id),
    findOwnCredentials(db, id),
    findSessionState(c, session),
  ]);
  if (!user || !credentials || !state) return "session_not_found";
  // The password may change between the two factors; the sign-in then fails here.
  const allPreconditions = joinPreconditions(
    toPendingSessionPreconditions(session),
    toPasswordPreconditions({ user_id: id, ...credentials }),
    preconditions,
  );
  const result = state.awaits
    ? await createSession(c, user, `${state.methods} ${method}`, allPreconditions)
    : await stepUpSession(db, c.var.caller, method, preconditions).then(
        (row) => row && toSession(c, user, createSessionTokens(c.env, row)),
      );
  if (!result) return (await isSessionLive(db, session)) ? "refused" : "session_not_found";
  if (method !== "password") await cancelResetAndNotify(c, id);
  return result;
};

/** Methods of a session and whether it is pending; undefined if it has ended. */
export const findSessionState = (c: AppContext, session: Uuid) =>
  openDb(c.env)
    .select({ methods: sessions.methods, awaits: sessions.awaits })
    .from(sessions)
    .where(eq(sessions.id, session))
    .get();
