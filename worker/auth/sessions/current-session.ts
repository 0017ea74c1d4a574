import { getCookie } from "hono/cookie";
import type { Uuid } from "#contract/ids.ts";
import { openDb } from "#worker/db/client.ts";
import type { AppContext } from "#worker/lib/http/app.ts";
import { authenticateToken, findAccessToken } from "#worker/lib/http/authenticate.ts";
import { refreshCookie } from "#worker/lib/http/cookies.ts";
import { parseRefreshToken } from "./refresh-token.ts";
import { findSessionByRefreshToken } from "./sessions.ts";

/** Whatever session the cookies hold, also when its access token has run out. */
export const findCookieSession = async (c: AppContext) => {
  const cookie = getCookie(c, refreshCookie);
  const token = cookie === undefined ? undefined : parseRefreshToken(cookie);
  return token && (await findSessionByRefreshToken(c.env, openDb(c.env), token));
};

/** The person's session in which somebody asks on a route that is open to everybody; null when it is in none of theirs. */
export const findOwnSession = async (c: AppContext, user: Uuid): Promise<Uuid | null> => {
  if (c.req.header("authorization") === undefined) {
    const row = await findCookieSession(c);
    return row?.user_id === user ? row.id : null;
  }
  const token = findAccessToken(c);
  const found = token === undefined ? undefined : await authenticateToken(c.env, openDb(c.env), token);
  return typeof found === "object" && found.caller.user === user ? found.caller.session : null;
};
