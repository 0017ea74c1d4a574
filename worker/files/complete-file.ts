import { randomBytes } from "node:crypto";
import * as v from "valibot";
import type { ErrorCode } from "#contract/errors.ts";
import { MediaType, otherType, partCount } from "#contract/files.ts";
import { type Db, openDb } from "#worker/db/client.ts";
import { type FileRecord, purgeFile } from "#worker/db/files.ts";
import { cleanImage, exceedsPixelLimit, hasImageSignature } from "./formats/clean-image.ts";
import { blankHeifMetadata, hasHeifBrand } from "./formats/heif.ts";
import { sumLengths } from "./formats/kept-bytes.ts";
import { isIsoMedia } from "./formats/mp4.ts";
import { blankMp4Metadata } from "./formats/mp4-metadata.ts";
import { sniffType } from "./formats/sniff.ts";
import { isEbml } from "./formats/webm.ts";
import { blankWebmMetadata } from "./formats/webm-metadata.ts";
import { MemoryBudget } from "./memory-budget.ts";
import { deletePart, listReceivedParts, PartMissingError, readPart, readParts, readWholeFile } from "./parts.ts";
import { claimFileKey, findOwnFile, type MediaInfo, markFileReady, markFileRemoved } from "./queries.ts";

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

/** Key `{userId}_{timestamp}.{ext}` (SPEC.md) with 128 random bits, so that it cannot be guessed. */
const createFileKey = ({ owner_id, created_at }: FileRecord, type: MediaType): string =>
  `${owner_id}_${created_at}_${randomBytes(randomPartBytes).toString("base64url")}.${fileExtensions[type]}`;

/** Memory budget for images in this isolate, which has 128 MB for all its requests. */
const imageMemory = new MemoryBudget(56 * 1024 * 1024, 8_000);

/** Permanent reasons for refusing a file, after which it is deleted. */
export const imageRefusals = ["image_too_many_pixels", "broken_image"] as const satisfies ErrorCode[];
type ImageRefusal = (typeof imageRefusals)[number];
const isImageRefusal = (result: unknown): result is ImageRefusal =>
  (imageRefusals as readonly unknown[]).includes(result);

type FileContent = MediaInfo & { size: number; chunks: () => AsyncIterable<Uint8Array> | Iterable<Uint8Array> };

/** Streams a file that is not an image. Metadata of MP4 and WebM files is blanked on the way. */
const toStreamedContent = (bucket: R2Bucket, file: FileRecord, firstPart: Uint8Array): FileContent => {
  const chunks = () => {
    const parts = readParts(bucket, file);
    if (isIsoMedia(firstPart)) return blankMp4Metadata(parts);
    return isEbml(firstPart) ? blankWebmMetadata(parts) : parts;
  };
  return { type: sniffType(firstPart), width: null, height: null, size: file.announced_size, chunks };
};

/**
 * Reads an image completely and removes its metadata. An image that cannot be parsed is refused, because its metadata
 * could not be removed.
 */
const readImageContent = async (bucket: R2Bucket, file: FileRecord): Promise<FileContent | ImageRefusal> => {
  const image = cleanImage(await readWholeFile(bucket, file));
  if (typeof image === "string") return image;
  if (!image) return "broken_image";
  const { type, width, height, slices } = image;
  return { type, width, height, size: sumLengths(slices), chunks: () => slices };
};

/** Reads a HEIF photo as iPhones take it, which browsers do not display, and blanks its metadata. */
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

/** Writes the object unless it exists; returns the media type and size of the stored object. */
const storeObject = async (
  bucket: R2Bucket,
  key: string,
  content: FileContent,
): Promise<MediaInfo & { size: number }> => {
  const { readable, writable } = new FixedLengthStream(content.size);
  let failure: unknown;
  const writeChunks = async () => {
    const writer = writable.getWriter();
    try {
      for await (const chunk of content.chunks()) await writer.write(chunk);
      await writer.close();
    } catch (error) {
      failure = error;
      await writer.abort(error).catch(() => undefined); // the reader is gone already
    }
  };
  // Not awaited: if the object exists, nobody reads the stream.
  void writeChunks();
  try {
    const stored = await bucket.put(key, readable, {
      onlyIf: { etagDoesNotMatch: "*" },
      customMetadata: toObjectMetadata(content),
    });
    if (stored) return content;
  } catch (error) {
    throw failure ?? error;
  }
  const existing = await bucket.head(key);
  if (!existing) throw new PartMissingError(); // the upload was cancelled meanwhile
  return readObjectMetadata(existing);
};

type CompletionRefusal = ImageRefusal | "file_incomplete" | "unavailable";

/** Reads and cleans the content of the parts; images are held in memory completely. */
const readContent = async (
  bucket: R2Bucket,
  file: FileRecord,
  firstPart: Uint8Array,
): Promise<FileContent | ImageRefusal> => {
  if (hasImageSignature(firstPart)) return readImageContent(bucket, file);
  return hasHeifBrand(firstPart) ? readHeifContent(bucket, file) : toStreamedContent(bucket, file, firstPart);
};

const joinParts = async (env: Env, db: Db, file: FileRecord): Promise<FileRecord | CompletionRefusal | undefined> => {
  const received = await listReceivedParts(env.FILES, file);
  if (received.length < partCount(file.announced_size)) return "file_incomplete";
  const firstPart = await readPart(env.FILES, file, 0);
  if (exceedsPixelLimit(firstPart)) return "image_too_many_pixels";
  const bytes = hasImageSignature(firstPart) || hasHeifBrand(firstPart) ? file.announced_size : 0;
  const reserved = await imageMemory.runWithin(file.owner_id, bytes, async () => {
    const content = await readContent(env.FILES, file, firstPart);
    return typeof content === "string" ? content : storeContent(env, db, file, content);
  });
  return reserved ? reserved.done : "unavailable";
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
  // Another request completed the file first, or the upload was cancelled and only this request knows of its object.
  const current = await findOwnFile(db, file.owner_id, file.id);
  if (current?.key !== key) await env.FILES.delete(key);
  return current;
};

/**
 * Completes an upload: joins its parts into one object, detects the media type from the bytes and removes metadata.
 * Safe to repeat after a lost response and to run concurrently: all runs write to the key in the row, only the first
 * write succeeds, and the detected media type is stored with the object. Returns the ready file, the reason for a
 * refusal, or undefined if the upload was cancelled meanwhile.
 */
export const completeFile = async (env: Env, file: FileRecord): ReturnType<typeof joinParts> => {
  if (file.status === "ready") return file;
  const db = openDb(env);
  let missingPart: number | undefined;
  const result = await joinParts(env, db, file).catch((error: unknown) => {
    if (!(error instanceof PartMissingError)) throw error;
    missingPart = error.part;
    return "file_incomplete" as const;
  });
  if (isImageRefusal(result)) {
    const removed = await markFileRemoved(db, file.owner_id, file.id);
    if (removed) await purgeFile(env, removed);
    return result;
  }
  if (result !== "file_incomplete" && result !== undefined) return result;
  // Parts disappear when a concurrent request completes the file first.
  const current = await findOwnFile(db, file.owner_id, file.id);
  if (current?.status !== "receiving") return current;
  if (missingPart !== undefined) await deletePart(env.FILES, file, missingPart);
  return result;
};
