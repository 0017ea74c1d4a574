import { createMiddleware } from "hono/factory";
import { headersEverywhere } from "#contract/wire/document/document-headers.ts";
import type { AppEnv } from "./app.ts";

/** Policy of responses that are not pages: they may not load anything, run or be framed. */
const closedPolicy = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; sandbox";

/** Headers of a response without a body. */
export const emptyHeaders = {
  ...headersEverywhere,
  "content-security-policy": closedPolicy,
  "cache-control": "no-store",
} as const;

/**
 * Middleware that sets security headers. Headers set by a route are kept; responses are not cached unless the route
 * allows it.
 */
export const secureHeaders = createMiddleware<AppEnv>(async (c, next) => {
  await next();
  if (c.res.status === 101) return;
  for (const [name, value] of Object.entries(headersEverywhere)) c.header(name, value);
  if (!c.res.headers.has("content-security-policy")) c.header("content-security-policy", closedPolicy);
  if (!c.res.headers.has("cache-control")) c.header("cache-control", "no-store");
});
