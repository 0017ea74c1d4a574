import { type Language, resolveLanguage } from "#contract/language.ts";
import type { AppContext } from "./app.ts";

/**
 * Tests whether the browser accepts brotli. Cloudflare's edge rewrites Accept-Encoding; `cf.clientAcceptEncoding` is
 * the original.
 */
export const acceptsBrotli = (request: Request): boolean => {
  const accepted = request.cf?.["clientAcceptEncoding"] ?? request.headers.get("accept-encoding") ?? "";
  return /(^|[\s,])br\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/.test(String(accepted));
};

/** Language of the requester: the one chosen in this browser, else the preferred one, else French. */
export const getRequestLanguage = (c: AppContext): Language =>
  resolveLanguage({ cookies: c.req.header("cookie"), accept: c.req.header("accept-language") });
