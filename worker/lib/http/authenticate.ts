import { eq, sql } from "drizzle-orm";
import type { Context } from "hono";
import { getCookie } from "hono/cookie";
import { createMiddleware } from "hono/factory";
import { parse as parseCookies } from "hono/utils/cookie";
import { personHeader, personQuery } from "#contract/auth/auth.ts";
import type { Uuid } from "#contract/ids.ts";
import { awaitingMinutes } from "#contract/limits.ts";
import { type Db, openDb } from "#worker/db/client.ts";
import { sessions } from "#worker/db/schema.ts";
import { takeToken } from "#worker/lib/limits/rate-limit.ts";
import { readAccessToken } from "./access-token.ts";
import { type AppEnv, afterAnswer, type Caller } from "./app.ts";
import { accessCookie, clearBrowserCache } from "./cookies.ts";
import { refusalResponse, refuse } from "./refusal.ts";
import { isSameOrigin } from "./same-origin.ts";

type Recognized = { caller: Caller; firstUseOf: number | undefined };
export type Unrecognized = "bad_jwt" | "session_not_found" | "insufficient_aal";

/**
 * Who stands behind an access token, at the cost of one read: its session may have been ended since it was
 * signed. `firstUseOf` is the token's generation when none that young was seen yet. A session that still owes its second
 * step counts only where it is `halfway` that one may come.
 */
export const recognize = async (
  env: Pick<Env, "JWT_PRIVATE_JWK">,
  db: Db,
  token: string,
  halfway = false,
): Promise<Recognized | Unrecognized> => {
  const claims = await readAccessToken(env, token);
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
  if (row.awaits && !halfway) return "insufficient_aal";
  if (row.awaits && Date.now() - row.created_at > awaitingMinutes * 60_000) return "session_not_found";
  return {
    caller: { user: claims.sub, session: claims.sid, generation: claims.gen },
    firstUseOf: claims.gen > row.seen_generation ? claims.gen : undefined,
  };
};

/** Whether the session has not been ended. */
export const isSessionLive = async (db: Db, session: Uuid): Promise<boolean> =>
  (await db.select({ id: sessions.id }).from(sessions).where(eq(sessions.id, session)).get()) !== undefined;

const markSeen = async (db: Db, session: Uuid, generation: number): Promise<void> => {
  await db
    .update(sessions)
    .set({ seen_generation: sql`max(${sessions.seen_generation}, ${generation})` })
    .where(eq(sessions.id, session));
};

/** What is asked for one person is never carried by the session of another. */
const isForAnother = (person: string | null | undefined, { user }: Caller): boolean =>
  typeof person === "string" && person !== user;

const bearer = /^Bearer +([\w.~+/=-]+)$/i;

/** A Bearer token goes before the cookie: who sends one means it. */
export const accessTokenOf = (c: Context): string | undefined => {
  const header = c.req.header("authorization");
  return header === undefined ? getCookie(c, accessCookie) : bearer.exec(header)?.[1];
};

const requireCaller = (halfway: boolean) =>
  createMiddleware<AppEnv>(async (c, next) => {
    const token = accessTokenOf(c);
    if (!token) return refuse(c, "no_authorization");
    const db = openDb(c.env);
    const found = await recognize(c.env, db, token, halfway);
    if (typeof found === "string") {
      if (found === "session_not_found" && c.req.header("authorization") === undefined) clearBrowserCache(c);
      return refuse(c, found);
    }
    if (isForAnother(c.req.header(personHeader), found.caller)) return refuse(c, "session_not_found");
    if (found.firstUseOf !== undefined) {
      afterAnswer(c.executionCtx, "mark a session seen", markSeen(db, found.caller.session, found.firstUseOf));
    }
    c.set("caller", found.caller);
    return next();
  });

/** Middleware: only signed-in people come past it; who they are stands in `c.var.caller`. */
export const authenticate = requireCaller(false);

/** Also those who still owe their second step: for the few routes on which they show it. */
export const authenticateHalfway = requireCaller(true);

/**
 * Who opens a socket, or the answer that refuses it. Cookie or Bearer, never a token in the URL; with a
 * cookie the page's origin must be exactly ours, for an upgrade carries cookies from any page.
 */
export const authenticateUpgrade = async (request: Request, env: Env): Promise<Caller | Response> => {
  const header = request.headers.get("authorization");
  if (!isSameOrigin(request, header === null)) return refusalResponse("forbidden_origin");
  const token =
    header === null
      ? parseCookies(request.headers.get("cookie") ?? "", accessCookie)[accessCookie]
      : bearer.exec(header)?.[1];
  if (!token) return refusalResponse("no_authorization");
  const db = openDb(env);
  const found = await recognize(env, db, token);
  if (typeof found === "string") return refusalResponse(found);
  const person = new URL(request.url).searchParams.get(personQuery);
  if (isForAnother(person, found.caller)) return refusalResponse("session_not_found");
  const taken = await takeToken(db, found.caller.user, "socket_by_user");
  if (!taken.ok) return refusalResponse("rate_limited", taken.retryAfterMs);
  if (found.firstUseOf !== undefined) await markSeen(db, found.caller.session, found.firstUseOf);
  return found.caller;
};
