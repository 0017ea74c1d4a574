import type { MiddlewareHandler } from "hono";
import { openDb } from "#worker/db/client.ts";
import type { AppContext, AppEnv } from "#worker/lib/http/app.ts";
import { refuse } from "#worker/lib/http/refusal.ts";
import { hashLimitKey } from "./hashed-key.ts";
import { findKnownDevice, toSharedDeviceKey } from "./known-device.ts";
import { getClientAddress, type RateLimitName, type RateLimitResult, takeToken } from "./rate-limit.ts";

/** Hashed rate-limit key of the client's address. */
export const toAddressKey = (c: AppContext): string => hashLimitKey(c.env, getClientAddress(c.req.raw));

/** Wider network of a client, for costs that rise without a refusal: the first 24 bits of IPv4, 48 of IPv6. */
export const toWideNetwork = (request: Request): string => {
  const address = getClientAddress(request);
  if (address.endsWith("/64")) return `${address.split(":").slice(0, 3).join(":")}::/48`;
  return address.replace(/\.\d+$/, ".0/24");
};

/**
 * Takes one token for a caller without a session: of the known device, else of the hashed address. Others at the same
 * address can therefore not block a known device, and an empty device bucket falls back to the address.
 */
export const takeClientToken = async (c: AppContext, name: RateLimitName): Promise<RateLimitResult> => {
  const db = openDb(c.env);
  const device = findKnownDevice(c);
  const taken = device && (await takeToken(db, toSharedDeviceKey(device), name));
  return taken?.ok ? taken : takeToken(db, toAddressKey(c), name);
};

/** Middleware that takes one token of the client's bucket. */
export const limitClient =
  (name: RateLimitName): MiddlewareHandler<AppEnv> =>
  async (c, next) => {
    const taken = await takeClientToken(c, name);
    return taken.ok ? next() : refuse(c, "rate_limited", taken);
  };
