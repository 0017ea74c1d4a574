import { randomBytes } from "node:crypto";
import * as v from "valibot";
import type { ErrorCode } from "#contract/errors.ts";
import { MediaType, otherType, partCount } from "#contract/files.ts";
import { type Db, openDb } from "#worker/db/client.ts";
import { removeFile } from "#worker/db/files.ts";
import { sumLengths } from "./formats/byte-slices.ts";
import { cleanImage, exceedsPixelLimit, hasImageSignature } from "./formats/clean-image.ts";
import { blankHeifMetadata, hasHeifBrand } from "./formats/heif.ts";
import { isIsoMedia } from "./formats/mp4.ts";
import { blankMp4Metadata } from "./formats/mp4-metadata.ts";
import { sniffType } from "./formats/sniff.ts";
import { MemoryBudget } from "./memory-budget.ts";
import { deletePart, listReceivedParts, PartMissingError, readPart, readParts, readWholeFile } from "./parts.ts";
import {
  claimFileKey,
  type FileRecord,
  findOwnFile,
  type MediaInfo,
  markFileReady,
  markFileRemoved,
} from "./queries.ts";

/**
 * Completing a file: its parts become one object of the type its bytes are, without metadata. May be asked for
 * again after a lost answer, and twice at once: both write to the key that the row has, only the first may, and
 * what it recognised stands with the object.
 */

const randomPartBytes = 16;

const fileExtensions: Record<MediaType, string> = {
  "image/jpeg": "jpg",
  "image/png": "png",
  "image/webp": "webp",
  "image/gif": "gif",
  "audio/webm": "webm",
  "audio/ogg": "ogg",
  "audio/mp4": "m4a",
  "audio/mpeg": "mp3",
  "audio/wav": "wav",
  "video/webm": "webm",
  "video/mp4": "mp4",
  "application/pdf": "pdf",
  [otherType]: "bin",
};

/** SPEC.md's `{userId}_{timestamp}.{ext}` with 128 random bits, so that it cannot be guessed. */
const createFileKey = ({ owner_id, created_at }: FileRecord, type: MediaType): string =>
  `${owner_id}_${created_at}_${randomBytes(randomPartBytes).toString("base64url")}.${fileExtensions[type]}`;

/** What this isolate holds of pictures: its memory (128 MB) is that of everybody who is served in it. */
const imageMemory = new MemoryBudget(56 * 1024 * 1024, 8_000);

/** Why a file never becomes one that may be sent. It is let go of. */
export const imageRefusals = ["image_too_many_pixels", "broken_image"] as const satisfies ErrorCode[];
type ImageRefusal = (typeof imageRefusals)[number];
const isImageRefusal = (done: unknown): done is ImageRefusal => (imageRefusals as readonly unknown[]).includes(done);

type FileContent = MediaInfo & { size: number; chunks: () => AsyncIterable<Uint8Array> | Iterable<Uint8Array> };

/** What is no picture only passes through. */
const toStreamedContent = (bucket: R2Bucket, file: FileRecord, first: Uint8Array): FileContent => {
  const chunks = () => (isIsoMedia(first) ? blankMp4Metadata(readParts(bucket, file)) : readParts(bucket, file));
  return { type: sniffType(first), width: null, height: null, size: file.announced_size, chunks };
};

/** What begins like a picture is held whole. Of one that cannot be read nobody knows what it tells of its author. */
const readImageContent = async (bucket: R2Bucket, file: FileRecord): Promise<FileContent | ImageRefusal> => {
  const image = cleanImage(await readWholeFile(bucket, file));
  if (typeof image === "string") return image;
  if (!image) return "broken_image";
  const { type, width, height, slices } = image;
  return { type, width, height, size: sumLengths(slices), chunks: () => slices };
};

/** A photo as iPhones take it, which browsers do not draw. */
const readHeifContent = async (bucket: R2Bucket, file: FileRecord): Promise<FileContent | ImageRefusal> => {
  const whole = await readWholeFile(bucket, file);
  if (!blankHeifMetadata(whole)) return "broken_image";
  return { type: otherType, width: null, height: null, size: whole.length, chunks: () => [whole] };
};

const ObjectMetadata = v.object({
  type: MediaType,
  width: v.nullable(v.pipe(v.string(), v.transform(Number))),
  height: v.nullable(v.pipe(v.string(), v.transform(Number))),
});

const toObjectMetadata = ({ type, width, height }: MediaInfo): Record<string, string> => ({
  type,
  ...(width === null || height === null ? {} : { width: String(width), height: String(height) }),
});

const readObjectMetadata = ({ customMetadata = {}, size }: R2Object): MediaInfo & { size: number } => {
  const { type, width = null, height = null } = customMetadata;
  return { ...v.parse(ObjectMetadata, { type, width, height }), size };
};

/** Writes the object unless it is there already; answers what then stands there. */
const storeObject = async (
  bucket: R2Bucket,
  key: string,
  content: FileContent,
): Promise<MediaInfo & { size: number }> => {
  const { readable, writable } = new FixedLengthStream(content.size);
  let failure: unknown;
  const pour = async () => {
    const writer = writable.getWriter();
    try {
      for await (const chunk of content.chunks()) await writer.write(chunk);
      await writer.close();
    } catch (error) {
      failure = error;
      await writer.abort(error).catch(() => undefined); // the reader has gone already
    }
  };
  // Not waited for: when the object is there already, nobody reads what is poured.
  void pour();
  try {
    const stored = await bucket.put(key, readable, {
      onlyIf: { etagDoesNotMatch: "*" },
      customMetadata: toObjectMetadata(content),
    });
    if (stored) return content;
  } catch (error) {
    throw failure ?? error;
  }
  const there = await bucket.head(key);
  if (!there) throw new PartMissingError(); // taken back meanwhile
  return readObjectMetadata(there);
};

type CompletionRefusal = ImageRefusal | "file_incomplete" | "unavailable";

/** Reads what the parts are, a picture whole. */
const readContent = async (
  bucket: R2Bucket,
  file: FileRecord,
  first: Uint8Array,
): Promise<FileContent | ImageRefusal> => {
  if (hasImageSignature(first)) return readImageContent(bucket, file);
  return hasHeifBrand(first) ? readHeifContent(bucket, file) : toStreamedContent(bucket, file, first);
};

const joinParts = async (env: Env, db: Db, file: FileRecord): Promise<FileRecord | CompletionRefusal | undefined> => {
  const received = await listReceivedParts(env.FILES, file);
  if (received.length < partCount(file.announced_size)) return "file_incomplete";
  const first = await readPart(env.FILES, file, 0);
  if (exceedsPixelLimit(first)) return "image_too_many_pixels";
  const bytes = hasImageSignature(first) || hasHeifBrand(first) ? file.announced_size : 0;
  const joined = await imageMemory.runWithin(file.owner_id, bytes, async () => {
    const content = await readContent(env.FILES, file, first);
    return typeof content === "string" ? content : storeContent(env, db, file, content);
  });
  return joined ? joined.done : "unavailable";
};

const storeContent = async (
  env: Env,
  db: Db,
  file: FileRecord,
  content: FileContent,
): Promise<FileRecord | undefined> => {
  const key = await claimFileKey(db, file.id, createFileKey(file, content.type));
  if (key === undefined) return undefined;
  const { type, width, height, size } = await storeObject(env.FILES, key, content);
  const ready = await markFileReady(db, file.id, { type, width, height, size });
  if (ready) return ready;
  // Another request was first, or the file was taken back and nobody else knows of what was written just now.
  const now = await findOwnFile(db, file.owner_id, file.id);
  if (now?.key !== key) await env.FILES.delete(key);
  return now;
};

/** The ready file, or why it is none; nothing when it was taken back meanwhile. */
export const completeFile = async (env: Env, file: FileRecord): ReturnType<typeof joinParts> => {
  if (file.status === "ready") return file;
  const db = openDb(env);
  let lost: number | undefined;
  const done = await joinParts(env, db, file).catch((error: unknown) => {
    if (!(error instanceof PartMissingError)) throw error;
    lost = error.part;
    return "file_incomplete" as const;
  });
  if (isImageRefusal(done)) {
    const removed = await markFileRemoved(db, file.owner_id, file.id);
    if (removed) await removeFile(env, removed);
    return done;
  }
  if (done !== "file_incomplete" && done !== undefined) return done;
  // Parts go missing under one's hands when another request was faster.
  const now = await findOwnFile(db, file.owner_id, file.id);
  if (now?.status !== "receiving") return now;
  if (lost !== undefined) await deletePart(env.FILES, file, lost);
  return done;
};
