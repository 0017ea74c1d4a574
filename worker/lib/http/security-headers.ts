import { createMiddleware } from "hono/factory";
import { headersEverywhere } from "#contract/document-headers.ts";
import type { AppEnv } from "./app.ts";

/** For what is no page: nothing in it may load, run, or be framed. */
const closedPolicy = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; sandbox";

/** Headers of an answer without a body. */
export const emptyHeaders = {
  ...headersEverywhere,
  "content-security-policy": closedPolicy,
  "cache-control": "no-store",
} as const;

/** Middleware: what a route set itself stays; an API answer is kept by nobody unless its route says so. */
export const secureHeaders = createMiddleware<AppEnv>(async (c, next) => {
  await next();
  if (c.res.status === 101) return;
  for (const [name, value] of Object.entries(headersEverywhere)) c.header(name, value);
  if (!c.res.headers.has("content-security-policy")) c.header("content-security-policy", closedPolicy);
  if (!c.res.headers.has("cache-control")) c.header("cache-control", "no-store");
});
