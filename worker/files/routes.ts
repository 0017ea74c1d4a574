import * as v from "valibot";
import { FileState, NewFile, partBytes, partCount } from "#contract/files.ts";
import { ConversationId, privateMembers, Uuid } from "#contract/ids.ts";
import { openDb } from "#worker/db/client.ts";
import { type FileRecord, purgeFile } from "#worker/db/files.ts";
import { type AppContext, createRoutes, runAfterResponse } from "#worker/lib/http/app.ts";
import { authenticate } from "#worker/lib/http/authenticate.ts";
import { matchesEtag } from "#worker/lib/http/etag.ts";
import { describeOperation } from "#worker/lib/http/openapi.ts";
import { refuse } from "#worker/lib/http/refusal.ts";
import { validate } from "#worker/lib/http/validate.ts";
import { limitCaller } from "#worker/lib/limits/rate-limit.ts";
import { deleteParts } from "#worker/lib/storage/file-bytes.ts";
import { getConversationStub, getUserChannelStub } from "#worker/objects/stubs.ts";
import { completeFile, imageRefusals } from "./complete-file.ts";
import { readRequestedRange, toContentDisposition } from "./download-headers.ts";
import { listReceivedParts, storePart } from "./parts.ts";
import { announceFile, findFile, findOwnFile, markFileRemoved } from "./queries.ts";

const FileIdParam = v.object({ id: Uuid });
const PartParams = v.object({ id: Uuid, n: v.pipe(v.string(), v.maxLength(4), v.digits(), v.transform(Number)) });
/** Any strings are accepted, so that invalid ids get the same response as invisible files. */
const ReadFileParams = v.object({ id: v.string(), file: v.string() });

const toFileState = async (env: Env, file: FileRecord): Promise<FileState> => {
  const { id, announced_size, size, type, width, height } = file;
  const received = await listReceivedParts(env.FILES, file);
  const isReady = file.status === "ready" && size !== null && type !== null;
  return { id, size: isReady ? size : announced_size, received, ready: isReady ? { type, width, height } : null };
};

/** File that a message visible to the caller references; undefined otherwise. */
const findReadableFile = async (c: AppContext, conversation: string, file: string): Promise<FileRecord | undefined> => {
  const { user } = c.var.caller;
  if (!v.is(ConversationId, conversation) || !v.is(Uuid, file)) return undefined;
  // An unknown conversation is not called at all: its response time would reveal whether it exists.
  if (privateMembers(conversation)?.includes(user) === false) return undefined;
  if (!(await getUserChannelStub(c.env, user).hasConversation(conversation))) return undefined;
  const isNamed = await getConversationStub(c.env, conversation).canReadFile(user, file);
  return isNamed ? findFile(openDb(c.env), file) : undefined;
};

const findOwnFileOfPath = (c: AppContext): Promise<FileRecord | undefined> =>
  findOwnFile(openDb(c.env), c.var.caller.user, c.req.param("id") ?? "");
const findReadableFileOfPath = (c: AppContext): Promise<FileRecord | undefined> =>
  findReadableFile(c, c.req.param("id") ?? "", c.req.param("file") ?? "");

/** Refuses other methods with 405 for a reader of the file, and with 404 for everybody else. */
const refuseOtherMethods =
  (find: (c: AppContext) => Promise<FileRecord | undefined>, allow: string) => async (c: AppContext) => {
    if (!(await find(c))) return refuse(c, "file_not_found");
    c.header("allow", allow);
    return refuse(c, "method_not_allowed");
  };

export const fileRoutes = createRoutes()
  .put(
    "/files/:id",
    describeOperation({
      tag: "files",
      summary: "Announce a file under an id created by the client. Idempotent: repeated, it returns the received parts",
      ok: { status: 200, body: FileState },
      refusals: [
        "invalid_input",
        "invalid_file_name",
        "file_too_large",
        "storage_full",
        "file_not_found",
        "forbidden_origin",
      ],
    }),
    authenticate,
    validate("param", FileIdParam),
    validate("json", NewFile),
    limitCaller("upload_by_user", "upload_by_user_and_day"),
    async (c) => {
      const { user } = c.var.caller;
      const announced = c.req.valid("json");
      const file = await announceFile(openDb(c.env), user, c.req.valid("param").id, announced, Date.now());
      if ("error" in file) return refuse(c, file.error, file.error === "rate_limited" ? file : {});
      if (file.owner_id !== user || file.status === "removed") return refuse(c, "file_not_found");
      const isSame = file.name === announced.name && file.announced_size === announced.size;
      return isSame ? c.json(await toFileState(c.env, file), 200) : refuse(c, "invalid_input");
    },
  )
  .get(
    "/files/:id",
    describeOperation({
      tag: "files",
      summary: "State of one's own file: received parts, and its media type once it is ready",
      ok: { status: 200, body: FileState },
      refusals: ["invalid_input", "file_not_found"],
    }),
    authenticate,
    validate("param", FileIdParam),
    async (c) => {
      const file = await findOwnFile(openDb(c.env), c.var.caller.user, c.req.valid("param").id);
      return file ? c.json(await toFileState(c.env, file), 200) : refuse(c, "file_not_found");
    },
  )
  .put(
    "/files/:id/parts/:n",
    describeOperation({
      tag: "files",
      summary: "Upload a part, from 0, in any order: 131,072 bytes, the last one the remainder. The first copy is kept",
      bodyType: "application/octet-stream",
      ok: { status: 204, body: null },
      refusals: ["invalid_input", "file_not_found", "file_part_mismatch", "forbidden_origin"],
    }),
    authenticate,
    validate("param", PartParams),
    limitCaller("part_by_user"),
    async (c) => {
      const { id, n } = c.req.valid("param");
      const file = await findOwnFile(openDb(c.env), c.var.caller.user, id);
      if (!file) return refuse(c, "file_not_found");
      const length = partBytes(file.announced_size, n);
      // A client that disconnects during the upload ends the body with an error.
      const bytes = n < partCount(file.announced_size) && (await c.req.arrayBuffer().catch(() => undefined));
      if (!bytes || bytes.byteLength !== length) return refuse(c, "file_part_mismatch");
      if (file.status === "receiving") await storePart(c.env.FILES, file, n, bytes);
      return c.body(null, 204);
    },
  )
  .post(
    "/files/:id/complete",
    describeOperation({
      tag: "files",
      summary:
        "Join the parts: detects the media type from the bytes and removes metadata. A permanently refused file is deleted",
      ok: { status: 200, body: FileState },
      refusals: [
        "invalid_input",
        "file_not_found",
        "file_incomplete",
        ...imageRefusals,
        "unavailable",
        "forbidden_origin",
      ],
    }),
    authenticate,
    validate("param", FileIdParam),
    limitCaller("completion_by_user"),
    async (c) => {
      const file = await findOwnFile(openDb(c.env), c.var.caller.user, c.req.valid("param").id);
      if (!file) return refuse(c, "file_not_found");
      const completing = completeFile(c.env, file);
      // Continues after the client has disconnected, so that a repeated request finds the file ready.
      runAfterResponse(c.executionCtx, "complete a file", completing);
      const result = await completing;
      if (!result) return refuse(c, "file_not_found");
      if (typeof result === "string") return refuse(c, result);
      runAfterResponse(c.executionCtx, "delete the parts of a file", deleteParts(c.env.FILES, file));
      return c.json(await toFileState(c.env, result), 200);
    },
  )
  .delete(
    "/files/:id",
    describeOperation({
      tag: "files",
      summary: "Delete one's own file that no message references",
      ok: { status: 204, body: null },
      refusals: ["invalid_input", "file_not_found", "file_in_use", "forbidden_origin"],
    }),
    authenticate,
    validate("param", FileIdParam),
    async (c) => {
      const { user } = c.var.caller;
      const { id } = c.req.valid("param");
      const db = openDb(c.env);
      const removed = await markFileRemoved(db, user, id);
      if (!removed) return refuse(c, (await findOwnFile(db, user, id)) ? "file_in_use" : "file_not_found");
      await purgeFile(c.env, removed);
      return c.body(null, 204);
    },
  )
  .get(
    "/conversations/:id/files/:file",
    describeOperation({
      tag: "files",
      summary:
        "A file referenced by a message of the conversation, whole or in ranges, for people who may see the message",
      ok: { status: 200, body: "application/octet-stream" },
      refusals: ["file_not_found"],
    }),
    authenticate,
    validate("param", ReadFileParams),
    async (c) => {
      const named = c.req.valid("param");
      const file = await findReadableFile(c, named.id, named.file);
      const { size, type, key } = file ?? {};
      if (!file || !size || !type || !key) return refuse(c, "file_not_found");
      const { headers } = c.req.raw;
      const etag = `"${file.id}"`; // a ready file never changes
      const isNotModified = matchesEtag(c.req.header("if-none-match"), etag);
      const requested = readRequestedRange(headers, size, etag);
      const range = typeof requested === "object" ? requested : { offset: 0, length: size };
      const needsBytes = c.req.method === "GET" && requested !== "unsatisfiable" && !isNotModified;
      const object = needsBytes ? await c.env.FILES.get(key, { range }) : undefined;
      if (object === null) return refuse(c, "file_not_found");
      c.header("cache-control", "private, no-cache");
      c.header("accept-ranges", "bytes");
      c.header("etag", etag);
      if (isNotModified) return c.body(null, 304);
      if (requested === "unsatisfiable") {
        c.header("content-range", `bytes */${size}`);
        return c.body(null, 416);
      }
      c.header("content-type", type);
      c.header("content-length", String(range.length));
      c.header("content-disposition", toContentDisposition(file.name, type));
      if (requested !== "all")
        c.header("content-range", `bytes ${range.offset}-${range.offset + range.length - 1}/${size}`);
      const status = requested === "all" ? 200 : 206;
      return object ? c.body(object.body, status) : c.body(null, status);
    },
  )
  .all("/files/:id", authenticate, refuseOtherMethods(findOwnFileOfPath, "GET, PUT, DELETE"))
  .all("/files/:id/parts/:n", authenticate, refuseOtherMethods(findOwnFileOfPath, "PUT"))
  .all("/files/:id/complete", authenticate, refuseOtherMethods(findOwnFileOfPath, "POST"))
  .all("/conversations/:id/files/:file", authenticate, refuseOtherMethods(findReadableFileOfPath, "GET"));
