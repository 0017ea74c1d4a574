import { getCookie } from "hono/cookie";
import { createMiddleware } from "hono/factory";
import { sessionTransportHeader } from "#contract/auth/auth.ts";
import type { AppEnv } from "./app.ts";
import { cookieNames } from "./cookies.ts";
import { refuse } from "./refusal.ts";

/**
 * Whether a request comes from our own pages. The origin is the request's own URL's: no header names another.
 * A program that is no browser sends neither `Origin` nor `Sec-Fetch-Site`; it is let in only when nothing in
 * the request is attached by a browser on its own (`needsProof`: cookies).
 */
export const isSameOrigin = (request: Request, needsProof: boolean): boolean => {
  const origin = request.headers.get("origin");
  if (origin !== null) return origin === new URL(request.url).origin;
  const site = request.headers.get("sec-fetch-site");
  return site === null ? !needsProof : site === "same-origin";
};

const safeMethods = ["GET", "HEAD", "OPTIONS"];

/** Middleware: nothing is changed on behalf of a page of another origin, whatever its content type. */
export const requireSameOrigin = createMiddleware<AppEnv>(async (c, next) => {
  if (safeMethods.includes(c.req.method)) return next();
  const hasCookie = cookieNames.some((name) => getCookie(c, name) !== undefined);
  const needsProof = hasCookie || c.req.header(sessionTransportHeader) === "cookie";
  return isSameOrigin(c.req.raw, needsProof) ? next() : refuse(c, "forbidden_origin");
});
