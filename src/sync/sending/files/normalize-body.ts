import type { FileState } from "#contract/files.ts";
import { type AttachedBody, type Body, withReply } from "#contract/messages/body.ts";

/**
 * Body as the server will store it, with the media type and dimensions that the server found in the file. An image or
 * voice message of another type becomes a file message.
 */
export const normalizeBody = (body: Body, { size, ready }: FileState): Body => {
  if (!("file" in body) || !ready) return body;
  const { type: mime, width, height } = ready;
  if (body.type === "image" && mime.startsWith("image/") && width !== null && height !== null)
    return { ...body, mime, size, width, height };
  if (body.type === "file" || (body.type === "voice" && mime.startsWith("audio/"))) return { ...body, mime, size };
  return toFileBody(body, mime, size);
};

const toFileBody = (body: AttachedBody, mime: AttachedBody["mime"], size: number): Body => {
  const { file, name, forwarded, reply } = body;
  const text = "text" in body ? body.text : undefined;
  const content: Body = { type: "file", file, name, mime, size, ...(text ? { text } : {}) };
  return withReply(forwarded ? { ...content, forwarded } : content, reply);
};
