import { createMiddleware } from "hono/factory";
import type { AppContext, AppEnv } from "./app.ts";
import { refuse } from "./refusal.ts";

const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** Tests whether a request addresses this machine by name, as in development. */
export const isLoopback = (url: string): boolean => loopback.test(new URL(url).hostname);

/**
 * Origin for links in mails, passkeys and OAuth redirects: `PUBLIC_URL`, or the loopback origin in development. Never
 * the Host header of a request, which the client controls.
 */
export const findPublicOrigin = (c: AppContext): string | undefined => {
  const configured: string = c.env.PUBLIC_URL;
  if (configured !== "") return new URL(configured).origin;
  return isLoopback(c.req.url) ? new URL(c.req.url).origin : undefined;
};

/** Origin on routes behind `requirePublicOrigin`; throws if it is not configured. */
export const getPublicOrigin = (c: AppContext): string => {
  const origin = findPublicOrigin(c);
  if (origin === undefined) throw new Error("PUBLIC_URL is empty");
  return origin;
};

export const logMissingPublicUrl = (): void =>
  console.error(
    "PUBLIC_URL is empty: mails, passkeys and sign-in by providers are refused until it is set (docs/operating/README.md).",
  );

/** Middleware that refuses routes which need the public origin while it is not configured. */
export const requirePublicOrigin = createMiddleware<AppEnv>(async (c, next) => {
  if (findPublicOrigin(c) !== undefined) return next();
  logMissingPublicUrl();
  return refuse(c, "public_url_missing");
});
