import { createMiddleware } from "hono/factory";
import type { AppEnv } from "#worker/lib/http/app.ts";
import { refuse } from "#worker/lib/http/refusal.ts";

/**
 * Middleware: a deployed Worker whose requests do not say where they come from (`CF-Connecting-IP` taken away by a rule of
 * the zone, or another front before it) answers nothing, and its log says why. Else the whole world would share one limit.
 * A server on a developer's machine has no such header and one client.
 */
export const requireClientAddress = (isLocal: boolean) =>
  createMiddleware<AppEnv>(async (c, next) => {
    if (isLocal || c.req.header("cf-connecting-ip") !== undefined) return next();
    console.error("Missing header: CF-Connecting-IP. Nothing is answered until requests carry it again.");
    return refuse(c, "unavailable", { msg: "This deployment is not complete" });
  });
