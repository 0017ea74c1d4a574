import type { MiddlewareHandler } from "hono";
import { bodyLimit } from "hono/body-limit";
import { avatarMaxBytes, bodyMaxBytes } from "../../contract/limits";
import type { AppEnv } from "./app";
import { refuse } from "./refusal";

const json = bodyLimit({ maxSize: bodyMaxBytes, onError: (c) => refuse(c, "too_large") });
const avatar = bodyLimit({ maxSize: avatarMaxBytes, onError: (c) => refuse(c, "file_too_large") });

/** Middleware: nobody's body is read further than it may be long, whatever its content-length claims. */
export const limitBody: MiddlewareHandler<AppEnv> = (c, next) =>
  c.req.path === "/api/profile/avatar" ? avatar(c, next) : json(c, next);
