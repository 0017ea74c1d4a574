import { eq } from "drizzle-orm";
import { type SecondStep, type Session, sessionTransportHeader } from "#contract/auth/auth.ts";
import type { Uuid } from "#contract/ids.ts";
import { accessTokenSeconds } from "#contract/limits.ts";
import { purgeExpiredInBackground } from "#worker/auth/purge-expired.ts";
import { findAccount, findOwnCredentials, toAuthUser, toPendingUser, type UserAccount } from "#worker/auth/queries.ts";
import { hashAddress } from "#worker/auth/recovery/mailed-tokens.ts";
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
import { rememberDevice } from "#worker/lib/limits/known-device.ts";
import { getClientAddress } from "#worker/lib/limits/rate-limit.ts";
import { closeSockets } from "./close-sockets.ts";
import { findCookieSession } from "./current-session.ts";
import { readDeviceName } from "./device-name.ts";
import {
  createSessionRow,
  createSessionTokens,
  insertSession,
  revokeSessions,
  type SessionRow,
  type SessionTokens,
  stepUpSession,
} from "./sessions.ts";

export const usesCookies = (c: AppContext): boolean => c.req.header(sessionTransportHeader) === "cookie";

/** What a request was let in by. A session that came in cookies stays there: no script gets hold of it by leaving out a header. */
const wasAuthenticatedByCookie = (c: AppContext): boolean =>
  c.var.caller !== undefined && c.req.header("authorization") === undefined;

const respondsWithCookies = (c: AppContext): boolean => usesCookies(c) || wasAuthenticatedByCookie(c);

/** The session as the client asked for it: tokens in the body, or in cookies and empty in the body. */
export const toSession = async (
  c: AppContext,
  user: UserAccount,
  tokens: SessionTokens,
  owed?: SecondStep[],
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
    user: owed ? toPendingUser(user) : toAuthUser(user),
    ...(owed ? { awaits: owed } : {}),
  };
};

/** Whoever shows a second step is there themselves: nobody has to wait any more for its being taken away. */
const cancelResetAndNotify = async (c: AppContext, user: Uuid): Promise<void> => {
  if (await cancelFactorReset(openDb(c.env), user)) {
    sendSecurityNotice(c, user, { event: "reset_cancelled", session: null, device: readDeviceName(c) });
  }
};

const applyResetAndNotify = async (c: AppContext, user: Uuid, ground: AuthPreconditions): Promise<void> => {
  if (await applyDueFactorReset(openDb(c.env), user, ground)) {
    sendSecurityNotice(c, user, { event: "reset_done", session: null, device: readDeviceName(c) });
  }
};

/** What a session that owes a step may show. Nothing where nothing is asked for any more: one signs in again. */
export const listMissingSteps = async (db: Db, { user_id, methods }: Pick<SessionRow, "user_id" | "methods">) =>
  findMissingSteps(methods, await findSecondFactors(db, user_id)) ?? [];

/** Whatever session the cookies held that a new one takes: nobody reaches it from here on, so it ends (ASVS 7.2.4). */
const revokeReplacedSession = async (c: AppContext): Promise<void> => {
  const replaced = respondsWithCookies(c) ? await findCookieSession(c) : undefined;
  if (!replaced) return;
  const ended = await revokeSessions(openDb(c.env), replaced.user_id, { only: replaced.id });
  await closeSockets(c.env, replaced.user_id, ended);
};

/** A session on this device, by these methods. Undefined when what was shown does not hold any more. */
const createSession = async (
  c: AppContext,
  user: UserAccount,
  methods: string,
  ground: AuthPreconditions,
  isNew = false,
): Promise<Session | undefined> => {
  const db = openDb(c.env);
  const now = Date.now();
  // What a provider says of itself is no proof of one's own.
  const proved_at = methods === "oauth" ? 0 : now;
  const network = hashAddress(c.env, `${user.id} ${getClientAddress(c.req.raw)}`);
  const row = createSessionRow(user.id, now, { device: readDeviceName(c), methods, proved_at, network });
  const begun = await insertSession(db, row, ground);
  if (!begun) return undefined;
  const { session, ended } = begun;
  runAfterResponse(c.executionCtx, "end the session this one replaces", revokeReplacedSession(c));
  const tokens = createSessionTokens(c.env, session);
  if (respondsWithCookies(c) && !session.awaits) rememberDevice(c, user.id);
  if (session.awaits) return toSession(c, user, tokens, await listMissingSteps(db, session));
  runAfterResponse(c.executionCtx, "close the oldest session", closeSockets(c.env, user.id, ended));
  if (!isNew) sendSecurityNotice(c, user.id, { event: "signed_in", session: session.id, device: session.device });
  return toSession(c, user, tokens);
};

/** Signs in whoever made their account in this moment: nobody else has to be told. */
export const startFirstSession = async (c: AppContext, user: UserAccount): Promise<Session> => {
  const session = await createSession(c, user, "password", noPreconditions, true);
  if (!session) throw new Error("a session that stands on nothing was refused");
  return session;
};

/**
 * Signs a person in by what they have just shown; the eleventh device takes the place of the oldest. Where that is not
 * enough the session can do nothing but show the rest. Undefined when it was taken back meanwhile.
 */
export const startSession = async (
  c: AppContext,
  user: UserAccount,
  method: AuthMethod,
  ground: AuthPreconditions,
): Promise<Session | undefined> => {
  if (method !== "passkey") await applyResetAndNotify(c, user.id, ground);
  const session = await createSession(c, user, method, ground);
  if (session && method === "passkey") await cancelResetAndNotify(c, user.id);
  return session;
};

/**
 * A factor was shown in a session. One that owed it ends, and a whole one begins in its place; in any other it counts for
 * what may be changed in the next minutes, by tokens that are made from here on. Otherwise the session ended meanwhile, or
 * what was shown was taken back (`refused`).
 */
export const acceptFactor = async (
  c: AppContext,
  method: AuthMethod,
  ground: AuthPreconditions,
): Promise<Session | "session_not_found" | "refused"> => {
  const { user: id, session } = c.var.caller;
  const db = openDb(c.env);
  const [user, own, standing] = await Promise.all([
    findAccount(db, id),
    findOwnCredentials(db, id),
    findSessionState(c, session),
  ]);
  if (!user || !own || !standing) return "session_not_found";
  // The password that was shown first may be changed between the two: then all that came of it ends here.
  const both = joinPreconditions(
    toPendingSessionPreconditions(session),
    toPasswordPreconditions({ user_id: id, ...own }),
    ground,
  );
  const proved = standing.awaits
    ? await createSession(c, user, `${standing.methods} ${method}`, both)
    : await stepUpSession(db, c.var.caller, method, ground).then(
        (row) => row && toSession(c, user, createSessionTokens(c.env, row)),
      );
  if (!proved) return (await isSessionLive(db, session)) ? "refused" : "session_not_found";
  if (method !== "password") await cancelResetAndNotify(c, id);
  return proved;
};

/** The methods a session has shown, and whether it owes one; undefined when it has ended. */
export const findSessionState = (c: AppContext, session: Uuid) =>
  openDb(c.env)
    .select({ methods: sessions.methods, awaits: sessions.awaits })
    .from(sessions)
    .where(eq(sessions.id, session))
    .get();
