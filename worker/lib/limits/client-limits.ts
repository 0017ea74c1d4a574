import type { MiddlewareHandler } from "hono";
import { openDb } from "#worker/db/client.ts";
import type { AppContext, AppEnv } from "#worker/lib/http/app.ts";
import { refuse } from "#worker/lib/http/refusal.ts";
import { hashLimitKey } from "./hashed-key.ts";
import { findKnownDevice, toSharedDeviceKey } from "./known-device.ts";
import { getClientAddress, type RateLimitName, type RateLimitResult, takeToken } from "./rate-limit.ts";

/** The address a request comes from, as the key of a limit. */
export const toAddressKey = (c: AppContext): string => hashLimitKey(c.env, getClientAddress(c.req.raw));

/** A wider network, for what gets dearer without being refused: the first 24 bits of IPv4, 48 of IPv6. */
export const toWideNetwork = (request: Request): string => {
  const address = getClientAddress(request);
  if (address.endsWith("/64")) return `${address.split(":").slice(0, 3).join(":")}::/48`;
  return address.replace(/\.\d+$/, ".0/24");
};

/**
 * One token for whoever is not signed in: of the known device, else of the address, hashed. So nobody behind the same
 * address keeps a known device from signing in, and whoever empties the one's bucket has the other.
 */
export const takeClientToken = async (c: AppContext, name: RateLimitName): Promise<RateLimitResult> => {
  const db = openDb(c.env);
  const device = findKnownDevice(c);
  const taken = device && (await takeToken(db, toSharedDeviceKey(device), name));
  return taken?.ok ? taken : takeToken(db, toAddressKey(c), name);
};

/** Middleware: one token of the client's bucket. */
export const limitClient =
  (name: RateLimitName): MiddlewareHandler<AppEnv> =>
  async (c, next) => {
    const taken = await takeClientToken(c, name);
    return taken.ok ? next() : refuse(c, "rate_limited", taken);
  };
