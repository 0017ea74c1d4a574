import { eq } from "drizzle-orm";
import { type SecondStep, type Session, sessionTransportHeader } from "#contract/auth/auth.ts";
import type { Uuid } from "#contract/ids.ts";
import { accessTokenSeconds } from "#contract/limits.ts";
import { tidy } from "#worker/auth/delete-expired.ts";
import { type Account, findAccount, findOwnCredentials, toAuthUser, toOwingUser } from "#worker/auth/queries.ts";
import { hashOfAddress } from "#worker/auth/recovery/mailed-tokens.ts";
import { findMeans, type Method, stepsOwed, toAssurance } from "#worker/auth/second-factor/assurance.ts";
import { applyDueReset, cancelReset } from "#worker/auth/second-factor/factor-reset.ts";
import { byHalf, byPassword, type Ground, onNothing, together } from "#worker/auth/second-factor/preconditions.ts";
import { notify } from "#worker/auth/security-notices.ts";
import { type Db, openDb } from "#worker/db/client.ts";
import { sessions } from "#worker/db/schema.ts";
import { signAccessToken } from "#worker/lib/http/access-token.ts";
import { type AppContext, afterAnswer } from "#worker/lib/http/app.ts";
import { isSessionLive } from "#worker/lib/http/authenticate.ts";
import { setSessionCookies } from "#worker/lib/http/cookies.ts";
import { rememberDevice } from "#worker/lib/limits/known-device.ts";
import { addressOf } from "#worker/lib/limits/rate-limit.ts";
import { closeSockets } from "./close-sockets.ts";
import { findCookieSession } from "./current-session.ts";
import { deviceOf } from "./device-name.ts";
import {
  endSessions,
  insertSession,
  newSession,
  proveSession,
  type SessionRow,
  type Tokens,
  toTokens,
} from "./sessions.ts";

export const usesCookies = (c: AppContext): boolean => c.req.header(sessionTransportHeader) === "cookie";

/** What a request was let in by. A session that came in cookies stays there: no script gets hold of it by leaving out a header. */
const cameInCookies = (c: AppContext): boolean =>
  c.var.caller !== undefined && c.req.header("authorization") === undefined;

const answersInCookies = (c: AppContext): boolean => usesCookies(c) || cameInCookies(c);

/** The session as the client asked for it: tokens in the body, or in cookies and empty in the body. */
export const toSession = async (
  c: AppContext,
  user: Account,
  tokens: Tokens,
  owed?: SecondStep[],
): Promise<Session> => {
  const now = Date.now();
  const { session, generation, refresh_token } = tokens;
  const claims = { sub: user.id, sid: session, gen: generation };
  const access_token = await signAccessToken(c.env, claims, now, toAssurance(tokens));
  tidy(c, user.id);
  const inCookies = answersInCookies(c);
  if (inCookies) setSessionCookies(c, { access_token, refresh_token });
  return {
    access_token: inCookies ? "" : access_token,
    refresh_token: inCookies ? "" : refresh_token,
    token_type: "bearer",
    expires_in: accessTokenSeconds,
    expires_at: Math.floor(now / 1_000) + accessTokenSeconds,
    user: owed ? toOwingUser(user) : toAuthUser(user),
    ...(owed ? { awaits: owed } : {}),
  };
};

/** Whoever shows a second step is there themselves: nobody has to wait any more for its being taken away. */
const stopReset = async (c: AppContext, user: Uuid): Promise<void> => {
  if (await cancelReset(openDb(c.env), user)) {
    notify(c, user, { event: "reset_cancelled", session: null, device: deviceOf(c) });
  }
};

const finishReset = async (c: AppContext, user: Uuid, ground: Ground): Promise<void> => {
  if (await applyDueReset(openDb(c.env), user, ground)) {
    notify(c, user, { event: "reset_done", session: null, device: deviceOf(c) });
  }
};

/** What a session that owes a step may show. Nothing where nothing is asked for any more: one signs in again. */
export const listOwed = async (db: Db, { user_id, methods }: Pick<SessionRow, "user_id" | "methods">) =>
  stepsOwed(methods, await findMeans(db, user_id)) ?? [];

/** Whatever session the cookies held that a new one takes: nobody reaches it from here on, so it ends (ASVS 7.2.4). */
const endReplaced = async (c: AppContext): Promise<void> => {
  const replaced = answersInCookies(c) ? await findCookieSession(c) : undefined;
  if (!replaced) return;
  const ended = await endSessions(openDb(c.env), replaced.user_id, { only: replaced.id });
  await closeSockets(c.env, replaced.user_id, ended);
};

/** A session on this device, by these methods. Undefined when what was shown does not hold any more. */
const begin = async (
  c: AppContext,
  user: Account,
  methods: string,
  ground: Ground,
  isNew = false,
): Promise<Session | undefined> => {
  const db = openDb(c.env);
  const now = Date.now();
  // What a provider says of itself is no proof of one's own.
  const proved_at = methods === "oauth" ? 0 : now;
  const network = hashOfAddress(c.env, `${user.id} ${addressOf(c.req.raw)}`);
  const row = newSession(user.id, now, { device: deviceOf(c), methods, proved_at, network });
  const begun = await insertSession(db, row, ground);
  if (!begun) return undefined;
  const { session, ended } = begun;
  afterAnswer(c.executionCtx, "end the session this one replaces", endReplaced(c));
  const tokens = toTokens(c.env, session);
  if (answersInCookies(c) && !session.awaits) rememberDevice(c, user.id);
  if (session.awaits) return toSession(c, user, tokens, await listOwed(db, session));
  afterAnswer(c.executionCtx, "close the oldest session", closeSockets(c.env, user.id, ended));
  if (!isNew) notify(c, user.id, { event: "signed_in", session: session.id, device: session.device });
  return toSession(c, user, tokens);
};

/** Signs in whoever made their account in this moment: nobody else has to be told. */
export const startFirstSession = async (c: AppContext, user: Account): Promise<Session> => {
  const session = await begin(c, user, "password", onNothing, true);
  if (!session) throw new Error("a session that stands on nothing was refused");
  return session;
};

/**
 * Signs a person in by what they have just shown; the eleventh device takes the place of the oldest. Where that is not
 * enough the session can do nothing but show the rest. Undefined when it was taken back meanwhile.
 */
export const startSession = async (
  c: AppContext,
  user: Account,
  method: Method,
  ground: Ground,
): Promise<Session | undefined> => {
  if (method !== "passkey") await finishReset(c, user.id, ground);
  const session = await begin(c, user, method, ground);
  if (session && method === "passkey") await stopReset(c, user.id);
  return session;
};

/**
 * A factor was shown in a session. One that owed it ends, and a whole one begins in its place; in any other it counts for
 * what may be changed in the next minutes, by tokens that are made from here on. Otherwise the session ended meanwhile, or
 * what was shown was taken back (`refused`).
 */
export const prove = async (
  c: AppContext,
  method: Method,
  ground: Ground,
): Promise<Session | "session_not_found" | "refused"> => {
  const { user: id, session } = c.var.caller;
  const db = openDb(c.env);
  const [user, own, standing] = await Promise.all([
    findAccount(db, id),
    findOwnCredentials(db, id),
    findStanding(c, session),
  ]);
  if (!user || !own || !standing) return "session_not_found";
  // The password that was shown first may be changed between the two: then all that came of it ends here.
  const both = together(byHalf(session), byPassword({ user_id: id, ...own }), ground);
  const proved = standing.awaits
    ? await begin(c, user, `${standing.methods} ${method}`, both)
    : await proveSession(db, c.var.caller, method, ground).then(
        (row) => row && toSession(c, user, toTokens(c.env, row)),
      );
  if (!proved) return (await isSessionLive(db, session)) ? "refused" : "session_not_found";
  if (method !== "password") await stopReset(c, id);
  return proved;
};

/** The methods a session has shown, and whether it owes one; undefined when it has ended. */
export const findStanding = (c: AppContext, session: Uuid) =>
  openDb(c.env)
    .select({ methods: sessions.methods, awaits: sessions.awaits })
    .from(sessions)
    .where(eq(sessions.id, session))
    .get();
