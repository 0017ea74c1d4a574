import { createMiddleware } from "hono/factory";
import type { AppEnv } from "#worker/lib/http/app.ts";
import { refuse } from "#worker/lib/http/refusal.ts";

/**
 * Middleware that refuses all requests of a deployed Worker without `CF-Connecting-IP` (removed by a rule of the zone
 * or by a proxy in front of it) and logs the reason. Otherwise all clients would share one limit. A local server has no
 * such header and one client.
 */
export const requireClientAddress = (isLocal: boolean) =>
  createMiddleware<AppEnv>(async (c, next) => {
    if (isLocal || c.req.header("cf-connecting-ip") !== undefined) return next();
    console.error("Missing header: CF-Connecting-IP. All requests are refused until they carry it again.");
    return refuse(c, "unavailable", { msg: "This deployment is not complete" });
  });
