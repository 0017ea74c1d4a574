import { and, eq, sql } from "drizzle-orm";
import { type SecondStep, type Session, sessionTransportHeader } from "../../contract/auth";
import type { Uuid } from "../../contract/ids";
import { accessTokenSeconds } from "../../contract/limits";
import { openDb } from "../db/client";
import { sessions } from "../db/schema";
import { signAccessToken } from "../lib/access-token";
import { type AppContext, afterAnswer } from "../lib/app";
import { setSessionCookies } from "../lib/cookies";
import { findMeans, type Method, stepsOwed, toAssurance, withMethod } from "./assurance";
import { deviceOf } from "./device-name";
import { applyDueReset, cancelReset } from "./factor-reset";
import { notify } from "./notices";
import { type Account, findAccount, findOwnCredentials, toAuthUser } from "./queries";
import { insertSession, newSession, PasswordChanged, type Tokens, toTokens } from "./sessions";
import { closeSockets } from "./sockets";
import { tidy } from "./tidying";

export const usesCookies = (c: AppContext): boolean => c.req.header(sessionTransportHeader) === "cookie";

/** What a request was let in by. A session that came in cookies stays there: no script gets hold of it by leaving out a header. */
const cameInCookies = (c: AppContext): boolean =>
  c.var.caller !== undefined && c.req.header("authorization") === undefined;

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
  const inCookies = usesCookies(c) || cameInCookies(c);
  if (inCookies) setSessionCookies(c, { access_token, refresh_token });
  return {
    access_token: inCookies ? "" : access_token,
    refresh_token: inCookies ? "" : refresh_token,
    token_type: "bearer",
    expires_in: accessTokenSeconds,
    expires_at: Math.floor(now / 1_000) + accessTokenSeconds,
    user: toAuthUser(user),
    ...(owed ? { awaits: owed } : {}),
  };
};

/** Whoever shows a second step is there themselves: nobody has to wait any more for its being taken away. */
const stopReset = async (c: AppContext, user: Uuid): Promise<void> => {
  if (await cancelReset(openDb(c.env), user)) {
    notify(c, user, { event: "reset_cancelled", session: null, device: deviceOf(c) });
  }
};

const finishReset = async (c: AppContext, user: Uuid): Promise<void> => {
  if (await applyDueReset(openDb(c.env), user)) {
    notify(c, user, { event: "reset_done", session: null, device: deviceOf(c) });
  }
};

/** `isNew`: the account is this moment's, nobody else has to be told. `password_hash`: by which password, if by one. */
type Start = { isNew?: boolean; password_hash?: string };

/** A session on this device for whoever has shown all that is asked; the eleventh device takes the place of the oldest. */
const begin = async (
  c: AppContext,
  user: Account,
  methods: string,
  now: number,
  { isNew = false, password_hash }: Start = {},
): Promise<Session> => {
  // What a provider says of itself is no proof of one's own.
  const proved_at = methods === "oauth" ? 0 : now;
  const row = newSession(user.id, now, { device: deviceOf(c), methods, proved_at });
  const { ended } = await insertSession(openDb(c.env), row, password_hash);
  afterAnswer(c.executionCtx, "close the oldest session", closeSockets(c.env, user.id, ended));
  if (!isNew) notify(c, user.id, { event: "signed_in", session: row.id, device: row.device ?? "" });
  return toSession(c, user, toTokens(c.env, row));
};

/**
 * Signs a person in by what they have just shown. Where that is not enough the session can do nothing but show the rest.
 * Throws `PasswordChanged`.
 */
export const startSession = async (
  c: AppContext,
  user: Account,
  method: Method,
  start: Start = {},
): Promise<Session> => {
  const { isNew = false, password_hash } = start;
  const now = Date.now();
  const db = openDb(c.env);
  if (!isNew) await (method === "passkey" ? stopReset(c, user.id) : finishReset(c, user.id));
  const owed = isNew ? undefined : stepsOwed(method, await findMeans(db, user.id));
  if (!owed) return begin(c, user, method, now, start);
  const row = newSession(user.id, now, { device: deviceOf(c), methods: method, awaits: true });
  await insertSession(db, row, password_hash);
  return toSession(c, user, toTokens(c.env, row), owed);
};

const unlessPasswordChanged = (error: unknown): undefined => {
  if (!(error instanceof PasswordChanged)) throw error;
};

/**
 * A factor was shown in a session. One that owed it ends, and a whole one begins in its place; in any other it counts for
 * what may be changed in the next minutes, by tokens that are made from here on. Undefined when the session ended meanwhile.
 */
export const prove = async (c: AppContext, method: Method): Promise<Session | undefined> => {
  const { user: id, session } = c.var.caller;
  const db = openDb(c.env);
  const [user, own] = await Promise.all([findAccount(db, id), findOwnCredentials(db, id)]);
  if (!user || !own) return undefined;
  if (method !== "password") await stopReset(c, id);
  const now = Date.now();
  const [owing] = await db
    .delete(sessions)
    .where(and(eq(sessions.id, session), eq(sessions.awaits, true)))
    .returning({ methods: sessions.methods });
  if (owing) {
    // The password that was shown first may be changed between the two: then all that came of it ends here.
    const start = { password_hash: own.password_hash };
    return begin(c, user, `${owing.methods} ${method}`, now, start).catch(unlessPasswordChanged);
  }
  const next = sql`${sessions.generation} + 1`;
  const [row] = await db
    .update(sessions)
    .set({ generation: next, refreshed_at: now, proved_at: now, proved_generation: next, methods: withMethod(method) })
    .where(eq(sessions.id, session))
    .returning();
  return row && toSession(c, user, toTokens(c.env, row));
};

/** The methods a session has shown, and whether it owes one; undefined when it has ended. */
export const findStanding = (c: AppContext, session: Uuid) =>
  openDb(c.env)
    .select({ methods: sessions.methods, awaits: sessions.awaits })
    .from(sessions)
    .where(eq(sessions.id, session))
    .get();
