import { parse as parseCookies } from "hono/utils/cookie";
import { openDb } from "#worker/db/client.ts";
import { verifyAccessToken } from "#worker/lib/http/access-token.ts";
import type { Caller } from "#worker/lib/http/app.ts";
import { authenticateToken } from "#worker/lib/http/authenticate.ts";
import { accessCookie, refreshCookie } from "#worker/lib/http/cookies.ts";
import { takeUserToken } from "#worker/lib/limits/request-limit.ts";
import { parseRefreshToken } from "./refresh-token.ts";
import { findSessionByRefreshToken, isSessionExpired } from "./sessions.ts";

/**
 * Person whose page is requested, by their cookies. Signatures are verified before anything is read, and each session
 * reads as often as a person may request something. The access token has usually expired when a page is opened, so the
 * refresh token is accepted too, unless it was exchanged before, without being exchanged. Pending sessions get nothing.
 */
export const findDocumentCaller = async (request: Request, env: Env): Promise<Caller | undefined> => {
  const cookies = parseCookies(request.headers.get("cookie") ?? "");
  const db = openDb(env);
  const accessToken = cookies[accessCookie] ?? "";
  const claims = accessToken === "" ? undefined : await verifyAccessToken(env, accessToken);
  const refreshToken = parseRefreshToken(env, cookies[refreshCookie] ?? "");
  const session = claims?.sid ?? refreshToken?.session;
  const taken = session === undefined ? undefined : takeUserToken(session);
  if (!taken?.ok || taken.waitMs > 0) return undefined;
  const authenticated = claims && (await authenticateToken(env, db, accessToken));
  if (typeof authenticated === "object") return authenticated.caller;
  const row = refreshToken && (await findSessionByRefreshToken(env, db, refreshToken));
  if (!row || row.awaits || refreshToken.generation < row.generation) return undefined;
  return isSessionExpired(row, Date.now())
    ? undefined
    : { user: row.user_id, session: row.id, generation: row.generation };
};
