import { getCookie } from "hono/cookie";
import { createMiddleware } from "hono/factory";
import { sessionTransportHeader } from "#contract/auth/auth.ts";
import type { AppEnv } from "./app.ts";
import { cookieNames } from "./cookies.ts";
import { refuse } from "./refusal.ts";

/**
 * Tests whether a request comes from our own pages, by the origin of the request's own URL. A program that is no
 * browser sends neither `Origin` nor `Sec-Fetch-Site`; it is accepted only if the request carries nothing that a
 * browser attaches by itself (`needsProof`: cookies).
 */
export const isSameOrigin = (request: Request, needsProof: boolean): boolean => {
  const origin = request.headers.get("origin");
  if (origin !== null) return origin === new URL(request.url).origin;
  const site = request.headers.get("sec-fetch-site");
  return site === null ? !needsProof : site === "same-origin";
};

const safeMethods = ["GET", "HEAD", "OPTIONS"];

/**
 * Middleware against cross-site request forgery: refuses changes requested by pages of other origins, whatever the
 * content type.
 */
export const requireSameOrigin = createMiddleware<AppEnv>(async (c, next) => {
  if (safeMethods.includes(c.req.method)) return next();
  const hasCookie = cookieNames.some((name) => getCookie(c, name) !== undefined);
  const needsProof = hasCookie || c.req.header(sessionTransportHeader) === "cookie";
  return isSameOrigin(c.req.raw, needsProof) ? next() : refuse(c, "forbidden_origin");
});
