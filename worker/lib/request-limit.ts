import { createMiddleware } from "hono/factory";
import { readAccessToken } from "./access-token";
import type { AppEnv } from "./app";
import { accessTokenOf } from "./authenticate";
import { MemoryBuckets } from "./memory-limits";
import { addressOf } from "./rate-limit";
import { refuse } from "./refusal";

const buckets = new MemoryBuckets();

/** Routes that carry bytes of files and pictures, of which a screen asks for many at once. */
const bytesPattern = /^\/api\/(avatars\/|tala\/pictures\/|files\/[^/]+\/parts\/|conversations\/[^/]+\/files\/)/;

/**
 * Middleware: one token of the person's bucket, or of the address's without a valid access token, for every request.
 * Stands before everything that asks the directory, and behind what refuses the pages of others: they use up nothing.
 */
export const limitRequests = createMiddleware<AppEnv>(async (c, next) => {
  if (c.req.method === "OPTIONS") return next(); // answered without any look
  const token = accessTokenOf(c);
  const claims = token === undefined ? undefined : await readAccessToken(c.env, token);
  const taken = claims
    ? buckets.take(bytesPattern.test(c.req.path) ? "bytes_by_user" : "api_by_user", claims.sub)
    : buckets.take("anonymous_by_address", addressOf(c.req.raw));
  return taken.ok ? next() : refuse(c, "rate_limited", taken);
});
