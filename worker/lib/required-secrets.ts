import { createMiddleware } from "hono/factory";
import type { AppEnv } from "./http/app.ts";
import { refuse } from "./http/refusal.ts";

/**
 * Secrets required to serve any request: without them the product would run partially or with an empty key. Same list
 * as in wrangler.toml, except for `VAPID_PRIVATE_JWK`, without which only notifications are missing.
 */
export const requiredSecrets = ["JWT_PRIVATE_JWK", "PEPPER", "ALTCHA_HMAC_KEY", "FACTOR_KEY"] as const;

/** Middleware that refuses all requests while a secret is missing. The name is logged and not disclosed to clients. */
export const requireSecrets = createMiddleware<AppEnv>(async (c, next) => {
  const missing = requiredSecrets.filter((name) => !c.env[name]?.trim());
  if (missing.length === 0) return next();
  console.error(`Missing secret: ${missing.join(", ")}. All requests are refused until it is set (npm run deploy).`);
  return refuse(c, "unavailable", { msg: "This deployment is not complete" });
});
