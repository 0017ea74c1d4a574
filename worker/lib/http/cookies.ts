import type { Context } from "hono";
import { deleteCookie, setCookie } from "hono/cookie";
import { accessTokenSeconds, sessionIdleDays } from "#contract/limits/authentication.ts";
import type { AppContext } from "./app.ts";

/** Prefix `__Host-` (RFC 6265bis §4.1.3.2): set by this host only, over HTTPS, for every path. */
export const accessCookie = "__Host-lisolo-at";
export const refreshCookie = "__Host-lisolo-rt";
export const cookieNames = [accessCookie, refreshCookie] as const;

const flags = { path: "/", secure: true, httpOnly: true, sameSite: "Strict" } as const;

export const setSessionCookies = (c: AppContext, tokens: { access_token: string; refresh_token: string }): void => {
  setCookie(c, accessCookie, tokens.access_token, { ...flags, maxAge: accessTokenSeconds });
  setCookie(c, refreshCookie, tokens.refresh_token, { ...flags, maxAge: sessionIdleDays * 86_400 });
};

export const clearSessionCookies = (c: AppContext): void => {
  for (const name of cookieNames) deleteCookie(c, name, flags);
};

/**
 * Makes the browser clear its HTTP cache, including pictures, when a session ends (header Clear-Site-Data). Its storage
 * is kept, because it holds the person's unsent messages.
 */
export const clearBrowserCache = (c: Context): void => c.header("clear-site-data", '"cache"');
