import { eq, sql } from "drizzle-orm";
import type { Context } from "hono";
import { getCookie } from "hono/cookie";
import { createMiddleware } from "hono/factory";
import { parse as parseCookies } from "hono/utils/cookie";
import { personHeader, personQuery } from "#contract/auth/auth.ts";
import type { Uuid } from "#contract/ids.ts";
import { pendingSecondFactorMinutes } from "#contract/limits/authentication.ts";
import { type Db, openDb } from "#worker/db/client.ts";
import { sessions } from "#worker/db/schema.ts";
import { takeToken } from "#worker/lib/limits/rate-limit.ts";
import { verifyAccessToken } from "./access-token.ts";
import { type AppEnv, type Caller, runAfterResponse } from "./app.ts";
import { accessCookie, clearBrowserCache } from "./cookies.ts";
import { createRefusalResponse, refuse } from "./refusal.ts";
import { isSameOrigin } from "./same-origin.ts";

type AuthenticatedToken = { caller: Caller; firstSeenGeneration: number | undefined };
export type TokenRefusal = "bad_jwt" | "session_not_found" | "insufficient_aal";

/**
 * Authenticates an access token at the cost of one read, because its session may have ended since it was issued.
 * `firstSeenGeneration`: the token's generation if no token that new was seen before. A pending session is accepted
 * only with `allowsPending`.
 */
export const authenticateToken = async (
  env: Pick<Env, "JWT_PRIVATE_JWK">,
  db: Db,
  token: string,
  allowsPending = false,
): Promise<AuthenticatedToken | TokenRefusal> => {
  const claims = await verifyAccessToken(env, token);
  if (!claims) return "bad_jwt";
  const row = await db
    .select({
      user_id: sessions.user_id,
      seen_generation: sessions.seen_generation,
      awaits: sessions.awaits,
      created_at: sessions.created_at,
    })
    .from(sessions)
    .where(eq(sessions.id, claims.sid))
    .get();
  if (!row || row.user_id !== claims.sub) return "session_not_found";
  if (row.awaits && !allowsPending) return "insufficient_aal";
  if (row.awaits && Date.now() - row.created_at > pendingSecondFactorMinutes * 60_000) return "session_not_found";
  return {
    caller: { user: claims.sub, session: claims.sid, generation: claims.gen },
    firstSeenGeneration: claims.gen > row.seen_generation ? claims.gen : undefined,
  };
};

/** Tests whether the session still exists. */
export const isSessionLive = async (db: Db, session: Uuid): Promise<boolean> =>
  (await db.select({ id: sessions.id }).from(sessions).where(eq(sessions.id, session)).get()) !== undefined;

const recordSeenGeneration = async (db: Db, session: Uuid, generation: number): Promise<void> => {
  await db
    .update(sessions)
    .set({ seen_generation: sql`max(${sessions.seen_generation}, ${generation})` })
    .where(eq(sessions.id, session));
};

/** Tests whether a request names another person than its session: a browser may have changed accounts since. */
const isForOtherPerson = (person: string | null | undefined, { user }: Caller): boolean =>
  typeof person === "string" && person !== user;

const bearerPattern = /^Bearer +([\w.~+/=-]+)$/i;

/** Access token of a request. A Bearer header takes precedence over the cookie. */
export const findAccessToken = (c: Context): string | undefined => {
  const header = c.req.header("authorization");
  return header === undefined ? getCookie(c, accessCookie) : bearerPattern.exec(header)?.[1];
};

const createAuthentication = (allowsPending: boolean) =>
  createMiddleware<AppEnv>(async (c, next) => {
    const token = findAccessToken(c);
    if (!token) return refuse(c, "no_authorization");
    const db = openDb(c.env);
    const authenticated = await authenticateToken(c.env, db, token, allowsPending);
    if (typeof authenticated === "string") {
      if (authenticated === "session_not_found" && c.req.header("authorization") === undefined) clearBrowserCache(c);
      return refuse(c, authenticated);
    }
    if (isForOtherPerson(c.req.header(personHeader), authenticated.caller)) return refuse(c, "session_not_found");
    if (authenticated.firstSeenGeneration !== undefined) {
      runAfterResponse(
        c.executionCtx,
        "record the newest seen generation",
        recordSeenGeneration(db, authenticated.caller.session, authenticated.firstSeenGeneration),
      );
    }
    c.set("caller", authenticated.caller);
    return next();
  });

/** Middleware that requires a signed-in caller and sets `c.var.caller`. */
export const authenticate = createAuthentication(false);

/** Middleware that also accepts pending sessions: for the few routes that show the second factor. */
export const authenticateAllowingPending = createAuthentication(true);

/**
 * Authenticates a WebSocket upgrade; returns the caller or a refusal. Cookie or Bearer, never a token in the URL. With
 * a cookie the page's origin must be exactly ours, because any page can start an upgrade that carries cookies.
 */
export const authenticateUpgrade = async (request: Request, env: Env): Promise<Caller | Response> => {
  const header = request.headers.get("authorization");
  if (!isSameOrigin(request, header === null)) return createRefusalResponse("forbidden_origin");
  const token =
    header === null
      ? parseCookies(request.headers.get("cookie") ?? "", accessCookie)[accessCookie]
      : bearerPattern.exec(header)?.[1];
  if (!token) return createRefusalResponse("no_authorization");
  const db = openDb(env);
  const authenticated = await authenticateToken(env, db, token);
  if (typeof authenticated === "string") return createRefusalResponse(authenticated);
  const person = new URL(request.url).searchParams.get(personQuery);
  if (isForOtherPerson(person, authenticated.caller)) return createRefusalResponse("session_not_found");
  const taken = await takeToken(db, authenticated.caller.user, "socket_by_user");
  if (!taken.ok) return createRefusalResponse("rate_limited", taken.retryAfterMs);
  if (authenticated.firstSeenGeneration !== undefined)
    await recordSeenGeneration(db, authenticated.caller.session, authenticated.firstSeenGeneration);
  return authenticated.caller;
};
