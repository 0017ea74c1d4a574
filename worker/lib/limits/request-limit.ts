import { createMiddleware } from "hono/factory";
import type { Uuid } from "#contract/ids.ts";
import { verifyAccessToken } from "#worker/lib/http/access-token.ts";
import type { AppContext, AppEnv } from "#worker/lib/http/app.ts";
import { findAccessToken } from "#worker/lib/http/authenticate.ts";
import { refuse } from "#worker/lib/http/refusal.ts";
import { findKnownDevice, toSharedDeviceKey } from "./known-device.ts";
import { MemoryBuckets, type MemoryPolicyName } from "./memory-limits.ts";
import { getClientAddress } from "./rate-limit.ts";

const buckets = new MemoryBuckets();

const delayMs = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const refusalDelayMs = 1_000; // plus up to as much at random, so that refused requests do not return together
const delayedRefusalsMax = 500;
/** When the running delays end. Times instead of a count, because the platform may abandon a request while it waits. */
let delayEnds: number[] = [];

const refusalDelayFactorMax = 4;

/**
 * Delays a refusal, so that a client that retries at once gets few of them; that of a large request, which costs
 * something just to receive, for longer. Skipped while many refusals are being delayed.
 */
const delayRefusal = async (tokens: number): Promise<void> => {
  const now = Date.now();
  delayEnds = delayEnds.filter((end) => end > now);
  if (delayEnds.length >= delayedRefusalsMax) return;
  const ms = refusalDelayMs * (1 + Math.random()) * Math.min(refusalDelayFactorMax, tokens);
  delayEnds.push(now + ms);
  await delayMs(ms);
};

/** Routes with buckets of their own: a screen requests many pictures at once, an upload consists of many parts. */
const userRoutes: readonly (readonly [RegExp, MemoryPolicyName])[] = [
  [/^\/api\/files\/[^/]+\/parts\//, "parts_by_user"],
  [/^\/api\/(avatars\/|tala\/pictures\/|conversations\/[^/]+\/files\/)/, "bytes_by_user"],
];
/** Routes for callers without a session that cost more than others, with buckets of their own by address. */
const addressRoutes: ReadonlyMap<string, MemoryPolicyName> = new Map([
  ["/api/auth/challenge", "challenges_by_address"],
  ["/api/auth/passkeys/sign-in/options", "ceremonies_by_address"],
] as const);

const bytesPerToken = 16 * 1024;
const requestTokensMax = 16; // a picture of several megabytes costs no more than a JSON body of the maximum size

/** Declared length of a body; of one with chunked transfer encoding unknown, therefore infinite. */
const getBodyLength = ({ headers, body }: Request): number =>
  body === null ? 0 : Math.max(0, Number(headers.get("content-length") ?? Number.POSITIVE_INFINITY) || 0);

const getHeadersLength = ({ headers }: Request): number => {
  let length = 0;
  for (const [name, value] of headers) length += name.length + value.length;
  return length;
};

/** Tokens of a request: one, and one more for every 16 KiB received, because parsing them blocks the isolate. */
const countTokens = (length: number): number => Math.min(requestTokensMax, 1 + Math.floor(length / bytesPerToken));

const countAllTokens = (request: Request): number => countTokens(getHeadersLength(request) + getBodyLength(request));

type TakeResult = ReturnType<MemoryBuckets["takeToken"]>;

const takeAnonymousToken = (c: AppContext, tokens: number): TakeResult => {
  const device = findKnownDevice(c);
  const taken = device && buckets.takeToken("anonymous_by_device", toSharedDeviceKey(device), { tokens });
  return taken?.ok ? taken : buckets.takeToken("anonymous_by_address", getClientAddress(c.req.raw), { tokens });
};

const takeRequestTokens = async (c: AppContext): Promise<TakeResult> => {
  const { path } = c.req;
  const tokens = countTokens(getHeadersLength(c.req.raw));
  const addressPolicy = addressRoutes.get(path);
  if (addressPolicy) return buckets.takeToken(addressPolicy, getClientAddress(c.req.raw), { tokens });
  const token = findAccessToken(c);
  const claims = token === undefined ? undefined : await verifyAccessToken(c.env, token);
  if (!claims) return takeAnonymousToken(c, tokens);
  const userPolicy = userRoutes.find(([pattern]) => pattern.test(path))?.[1];
  if (userPolicy) return buckets.takeToken(userPolicy, claims.sub, { tokens });
  return buckets.takeToken("api_by_user", claims.sub, { tokens: countAllTokens(c.req.raw) });
};

/**
 * Middleware that takes tokens for every request: of the person's bucket, or without a valid access token of the
 * known device's or the address's. Runs before anything that reads the directory, and after the same-origin check, so
 * that pages of other origins use up nothing.
 */
export const limitRequests = createMiddleware<AppEnv>(async (c, next) => {
  if (c.req.method === "OPTIONS") return next(); // answered without any check
  const taken = await takeRequestTokens(c);
  if (!taken.ok) {
    await delayRefusal(countAllTokens(c.req.raw));
    return refuse(c, "rate_limited", taken);
  }
  if (taken.waitMs > 0) await delayMs(taken.waitMs);
  return next();
});

/** Takes one token of an address's bucket for requests outside the API. */
export const takeAddressToken = (request: Request): TakeResult =>
  buckets.takeToken("anonymous_by_address", getClientAddress(request));

/** Takes one token of a person's bucket for requests outside the API. */
export const takeUserToken = (user: Uuid): TakeResult => buckets.takeToken("api_by_user", user);
