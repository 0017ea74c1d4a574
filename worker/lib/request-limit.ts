import { createMiddleware } from "hono/factory";
import { readAccessToken } from "./access-token";
import type { AppContext, AppEnv } from "./app";
import { accessTokenOf } from "./authenticate";
import { findDevice, sharedKeyOf } from "./known-device";
import { MemoryBuckets } from "./memory-limits";
import { addressOf, type Taken } from "./rate-limit";
import { refuse } from "./refusal";

const buckets = new MemoryBuckets();

const refusalDelayMs = 1_000; // and as much again at random, so that what came together is not answered together
const delayedRefusalsMax = 500;
let delayedRefusals = 0;

/** Delays a refusal, so that a client that asks again at once gets few of them. Nobody is delayed while many are. */
const delayRefusal = async (): Promise<void> => {
  if (delayedRefusals >= delayedRefusalsMax) return;
  delayedRefusals += 1;
  await new Promise((resolve) => setTimeout(resolve, refusalDelayMs * (1 + Math.random())));
  delayedRefusals -= 1;
};

/** Routes that carry bytes of files and pictures, of which a screen asks for many at once. */
const bytesPattern = /^\/api\/(avatars\/|tala\/pictures\/|files\/[^/]+\/parts\/|conversations\/[^/]+\/files\/)/;

const takeAnonymous = (c: AppContext): Taken => {
  const device = findDevice(c);
  const taken = device && buckets.take("anonymous_by_device", sharedKeyOf(device));
  return taken?.ok ? taken : buckets.take("anonymous_by_address", addressOf(c.req.raw));
};

/**
 * Middleware: one token for every request: of the person's bucket, without a valid access token of the known device's or
 * the address's.
 * Stands before everything that asks the directory, and behind what refuses the pages of others: they use up nothing.
 */
export const limitRequests = createMiddleware<AppEnv>(async (c, next) => {
  if (c.req.method === "OPTIONS") return next(); // answered without any look
  const token = accessTokenOf(c);
  const claims = token === undefined ? undefined : await readAccessToken(c.env, token);
  const taken = claims
    ? buckets.take(bytesPattern.test(c.req.path) ? "bytes_by_user" : "api_by_user", claims.sub)
    : takeAnonymous(c);
  if (taken.ok) return next();
  await delayRefusal();
  return refuse(c, "rate_limited", taken);
});
