import { parse as parseCookies } from "hono/utils/cookie";
import { openDb } from "#worker/db/client.ts";
import type { Caller } from "#worker/lib/http/app.ts";
import { authenticateToken } from "#worker/lib/http/authenticate.ts";
import { accessCookie, refreshCookie } from "#worker/lib/http/cookies.ts";
import { parseRefreshToken } from "./refresh-token.ts";
import { findSessionByRefreshToken, isSessionExpired } from "./sessions.ts";

/**
 * Person whose page is requested, by their cookies. The access token has usually expired when a page is opened, so the
 * refresh token is accepted too, unless it was exchanged before, without being exchanged. Pending sessions get nothing.
 */
export const findDocumentCaller = async (request: Request, env: Env): Promise<Caller | undefined> => {
  const cookies = parseCookies(request.headers.get("cookie") ?? "");
  const db = openDb(env);
  const accessToken = cookies[accessCookie];
  const authenticated = accessToken === undefined ? undefined : await authenticateToken(env, db, accessToken);
  if (typeof authenticated === "object") return authenticated.caller;
  const refreshToken = parseRefreshToken(cookies[refreshCookie] ?? "");
  const row = refreshToken && (await findSessionByRefreshToken(env, db, refreshToken));
  if (!row || row.awaits || refreshToken.generation < row.generation) return undefined;
  return isSessionExpired(row, Date.now())
    ? undefined
    : { user: row.user_id, session: row.id, generation: row.generation };
};
