import { createMiddleware } from "hono/factory";
import type { AppEnv } from "./http/app.ts";
import { refuse } from "./http/refusal.ts";

/** Without one of them the product would run in part, or with an empty key: it answers nothing. As in wrangler.toml. */
export const requiredSecrets = ["JWT_PRIVATE_JWK", "PEPPER", "ALTCHA_HMAC_KEY", "FACTOR_KEY"] as const;

/** Middleware: a deployment that lacks a secret says so in its log, by the secret's name, and to nobody else. */
export const requireSecrets = createMiddleware<AppEnv>(async (c, next) => {
  const missing = requiredSecrets.filter((name) => !c.env[name]?.trim());
  if (missing.length === 0) return next();
  console.error(`Missing secret: ${missing.join(", ")}. Nothing is answered until it is set (npm run deploy).`);
  return refuse(c, "unavailable", { msg: "This deployment is not complete" });
});
