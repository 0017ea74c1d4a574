import type { MiddlewareHandler } from "hono";
import { openDb } from "../db/client";
import type { AppContext, AppEnv } from "./app";
import { hashKey } from "./hashed-key";
import { findDevice } from "./known-device";
import { addressOf, type PolicyName, takeToken } from "./rate-limit";
import { refuse } from "./refusal";

/** The address a request comes from, as the key of a limit. */
export const addressKeyOf = (c: AppContext): string => hashKey(c.env, addressOf(c.req.raw));

/** A wider network, for what gets dearer without being refused: the first 24 bits of IPv4, 48 of IPv6. */
export const networkOf = (request: Request): string => {
  const address = addressOf(request);
  if (address.endsWith("/64")) return `${address.split(":").slice(0, 3).join(":")}::/48`;
  return address.replace(/\.\d+$/, ".0/24");
};

/**
 * Bucket of whoever is not signed in: of the device where somebody signed in before, else of the address, hashed. So
 * nobody behind the same address keeps a known device from signing in.
 */
export const clientKeyOf = (c: AppContext): string => findDevice(c)?.nonce ?? addressKeyOf(c);

/** Middleware: one token of the client's bucket. */
export const limitClient =
  (name: PolicyName): MiddlewareHandler<AppEnv> =>
  async (c, next) => {
    const taken = await takeToken(openDb(c.env), clientKeyOf(c), name);
    return taken.ok ? next() : refuse(c, "rate_limited", taken);
  };
