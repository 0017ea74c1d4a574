import { getCookie } from "hono/cookie";
import type { Uuid } from "#contract/ids.ts";
import { openDb } from "#worker/db/client.ts";
import type { AppContext } from "#worker/lib/http/app.ts";
import { authenticateToken, findAccessToken } from "#worker/lib/http/authenticate.ts";
import { refreshCookie } from "#worker/lib/http/cookies.ts";
import { parseRefreshToken } from "./refresh-token.ts";
import { findSessionByRefreshToken } from "./sessions.ts";

/** Session of the refresh cookie, even if its access token has expired. */
export const findCookieSession = async (c: AppContext) => {
  const cookie = getCookie(c, refreshCookie);
  const token = cookie === undefined ? undefined : parseRefreshToken(c.env, cookie);
  return token && (await findSessionByRefreshToken(c.env, openDb(c.env), token));
};

/** Session of this person in which a public route is called; null if the caller is not signed in as this person. */
export const findOwnSession = async (c: AppContext, user: Uuid): Promise<Uuid | null> => {
  if (c.req.header("authorization") === undefined) {
    const row = await findCookieSession(c);
    return row?.user_id === user ? row.id : null;
  }
  const token = findAccessToken(c);
  const authenticated = token === undefined ? undefined : await authenticateToken(c.env, openDb(c.env), token);
  return typeof authenticated === "object" && authenticated.caller.user === user ? authenticated.caller.session : null;
};
