import type { MiddlewareHandler } from "hono";
import { bodyLimit } from "hono/body-limit";
import { avatarMaxBytes, filePartBytes } from "#contract/limits/files.ts";
import { bodyMaxBytes } from "#contract/limits/sockets.ts";
import { postFormMaxBytes } from "#contract/limits/tala.ts";
import type { AppEnv } from "./app.ts";
import { refuse } from "./refusal.ts";

const drainMaxBytes = 16 * 1024 * 1024;

/**
 * Reads the rest of a body, up to a limit: a client that is still sending reads the response only after it finished.
 */
const drainBody = async (body: ReadableStream<Uint8Array> | null): Promise<void> => {
  if (!body || body.locked) return;
  const reader = body.getReader();
  let bytes = 0;
  for (let part = await reader.read(); !part.done && bytes < drainMaxBytes; part = await reader.read()) {
    bytes += part.value.byteLength;
  }
  await reader.cancel();
};

const createBodyLimit = (maxSize: number, code: "too_large" | "file_too_large" | "file_part_mismatch") =>
  bodyLimit({
    maxSize,
    onError: async (c) => {
      await drainBody(c.req.raw.body).catch(() => undefined); // the client is gone already
      return refuse(c, code);
    },
  });
const jsonLimit = createBodyLimit(bodyMaxBytes, "too_large");
const avatarLimit = createBodyLimit(avatarMaxBytes, "file_too_large");
const postLimit = createBodyLimit(postFormMaxBytes, "file_too_large");
const partLimit = createBodyLimit(filePartBytes, "file_part_mismatch");

const picturePattern = /^\/api\/(profile\/avatar|groups\/[^/]+\/picture)$/;
const partPattern = /^\/api\/files\/[^/]+\/parts\/[^/]+$/;

/** Middleware that limits the bytes read from a body, whatever its content-length claims. */
export const limitBody: MiddlewareHandler<AppEnv> = (c, next) => {
  if (picturePattern.test(c.req.path)) return avatarLimit(c, next);
  if (c.req.method === "POST" && c.req.path === "/api/tala") return postLimit(c, next);
  return partPattern.test(c.req.path) ? partLimit(c, next) : jsonLimit(c, next);
};
