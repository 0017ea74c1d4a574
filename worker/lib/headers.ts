import { createMiddleware } from "hono/factory";
import type { AppEnv } from "./app";

const oneYearSeconds = 31_536_000;

/** On every answer of the Worker, whatever it is. */
const everywhere = {
  "strict-transport-security": `max-age=${oneYearSeconds}; includeSubDomains`,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(self), microphone=(self), geolocation=(), payment=(), usb=()",
} as const;

/** For what is no page: nothing in it may load, run, or be framed. */
export const closedPolicy = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; sandbox";

/** Middleware: what a route set itself stays; an API answer is kept by nobody unless its route says so. */
export const secureHeaders = createMiddleware<AppEnv>(async (c, next) => {
  await next();
  if (c.res.status === 101) return;
  for (const [name, value] of Object.entries(everywhere)) c.header(name, value);
  if (!c.res.headers.has("content-security-policy")) c.header("content-security-policy", closedPolicy);
  if (!c.res.headers.has("cache-control")) c.header("cache-control", "no-store");
});

const sources = (hashes: readonly string[]): string => ["'self'", ...hashes.map((hash) => `'${hash}'`)].join(" ");

/**
 * Headers of an HTML document: the hashes (`sha256-…`, without quotes) are those of its inline scripts and
 * styles. Trusted Types guard the script sinks: a page that registers a service worker or starts a worker
 * by URL does it through a policy.
 */
export const documentHeaders = (
  scriptHashes: readonly string[],
  styleHashes: readonly string[],
): Record<string, string> => ({
  ...everywhere,
  "content-security-policy": [
    "default-src 'none'",
    `script-src ${sources(scriptHashes)}`,
    `style-src ${sources(styleHashes)}`,
    "img-src 'self' blob: data:",
    "media-src 'self' blob:",
    "connect-src 'self'",
    "font-src 'self'",
    "worker-src 'self'",
    "manifest-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "object-src 'none'",
    "require-trusted-types-for 'script'",
  ].join("; "),
});
