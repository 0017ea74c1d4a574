import { randomBytes } from "node:crypto";
import * as v from "valibot";
import type { ErrorCode } from "#contract/errors.ts";
import { MediaType, otherType, partCount } from "#contract/files.ts";
import { type Db, openDb } from "#worker/db/client.ts";
import { removeFile } from "#worker/db/files.ts";
import { beginsAsImage, cleanImage, isTooLarge } from "./formats/clean-image.ts";
import { beginsAsHeif, blankHeif } from "./formats/heif.ts";
import { isBoxed } from "./formats/mp4.ts";
import { blankMetadata } from "./formats/mp4-metadata.ts";
import { lengthOf } from "./formats/pieces.ts";
import { sniffType } from "./formats/sniff.ts";
import { forgetPart, listReceived, PartMissing, readPart, readParts, readWhole } from "./parts.ts";
import { claimKey, type FileRow, findOwnFile, markReady, markRemoved, type Recognized } from "./queries.ts";
import { Held } from "./wait-for-completion.ts";

/**
 * Completing a file: its parts become one object of the type its bytes are, without metadata. May be asked for
 * again after a lost answer, and twice at once: both write to the key that the row has, only the first may, and
 * what it recognised stands with the object.
 */

const randomPartBytes = 16;

const endings: Record<MediaType, string> = {
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
const makeKey = ({ owner_id, created_at }: FileRow, type: MediaType): string =>
  `${owner_id}_${created_at}_${randomBytes(randomPartBytes).toString("base64url")}.${endings[type]}`;

/** What this isolate holds of pictures: its memory (128 MB) is that of everybody who is served in it. */
const held = new Held(56 * 1024 * 1024, 8_000);

/** Why a file never becomes one that may be sent. It is let go of. */
export const unfit = ["image_too_many_pixels", "broken_image"] as const satisfies ErrorCode[];
type Unfit = (typeof unfit)[number];
const isUnfit = (done: unknown): done is Unfit => (unfit as readonly unknown[]).includes(done);

type Content = Recognized & { size: number; chunks: () => AsyncIterable<Uint8Array> | Iterable<Uint8Array> };

/** What is no picture only passes through. */
const passThrough = (bucket: R2Bucket, file: FileRow, first: Uint8Array): Content => {
  const chunks = () => (isBoxed(first) ? blankMetadata(readParts(bucket, file)) : readParts(bucket, file));
  return { type: sniffType(first), width: null, height: null, size: file.announced_size, chunks };
};

/** What begins like a picture is held whole. Of one that cannot be read nobody knows what it tells of its author. */
const readPicture = async (bucket: R2Bucket, file: FileRow): Promise<Content | Unfit> => {
  const image = cleanImage(await readWhole(bucket, file));
  if (typeof image === "string") return image;
  if (!image) return "broken_image";
  const { type, width, height, pieces } = image;
  return { type, width, height, size: lengthOf(pieces), chunks: () => pieces };
};

/** A photo as iPhones take it, which browsers do not draw. */
const readHeif = async (bucket: R2Bucket, file: FileRow): Promise<Content | Unfit> => {
  const whole = await readWhole(bucket, file);
  if (!blankHeif(whole)) return "broken_image";
  return { type: otherType, width: null, height: null, size: whole.length, chunks: () => [whole] };
};

const Described = v.object({
  type: MediaType,
  width: v.nullable(v.pipe(v.string(), v.transform(Number))),
  height: v.nullable(v.pipe(v.string(), v.transform(Number))),
});

const toMetadata = ({ type, width, height }: Recognized): Record<string, string> => ({
  type,
  ...(width === null || height === null ? {} : { width: String(width), height: String(height) }),
});

const fromMetadata = ({ customMetadata = {}, size }: R2Object): Recognized & { size: number } => {
  const { type, width = null, height = null } = customMetadata;
  return { ...v.parse(Described, { type, width, height }), size };
};

/** Writes the object unless it is there already; answers what then stands there. */
const store = async (bucket: R2Bucket, key: string, content: Content): Promise<Recognized & { size: number }> => {
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
      customMetadata: toMetadata(content),
    });
    if (stored) return content;
  } catch (error) {
    throw failure ?? error;
  }
  const there = await bucket.head(key);
  if (!there) throw new PartMissing(); // taken back meanwhile
  return fromMetadata(there);
};

type Refused = Unfit | "file_incomplete" | "unavailable";

/** Reads what the parts are, a picture whole. */
const recognize = async (bucket: R2Bucket, file: FileRow, first: Uint8Array): Promise<Content | Unfit> => {
  if (beginsAsImage(first)) return readPicture(bucket, file);
  return beginsAsHeif(first) ? readHeif(bucket, file) : passThrough(bucket, file, first);
};

const join = async (env: Env, db: Db, file: FileRow): Promise<FileRow | Refused | undefined> => {
  const received = await listReceived(env.FILES, file);
  if (received.length < partCount(file.announced_size)) return "file_incomplete";
  const first = await readPart(env.FILES, file, 0);
  if (isTooLarge(first)) return "image_too_many_pixels";
  const bytes = beginsAsImage(first) || beginsAsHeif(first) ? file.announced_size : 0;
  const joined = await held.during(file.owner_id, bytes, async () => {
    const content = await recognize(env.FILES, file, first);
    return typeof content === "string" ? content : keep(env, db, file, content);
  });
  return joined ? joined.done : "unavailable";
};

const keep = async (env: Env, db: Db, file: FileRow, content: Content): Promise<FileRow | undefined> => {
  const key = await claimKey(db, file.id, makeKey(file, content.type));
  if (key === undefined) return undefined;
  const { type, width, height, size } = await store(env.FILES, key, content);
  const ready = await markReady(db, file.id, { type, width, height, size });
  if (ready) return ready;
  // Another request was first, or the file was taken back and nobody else knows of what was written just now.
  const now = await findOwnFile(db, file.owner_id, file.id);
  if (now?.key !== key) await env.FILES.delete(key);
  return now;
};

/** The ready file, or why it is none; nothing when it was taken back meanwhile. */
export const completeFile = async (env: Env, file: FileRow): ReturnType<typeof join> => {
  if (file.status === "ready") return file;
  const db = openDb(env);
  let lost: number | undefined;
  const done = await join(env, db, file).catch((error: unknown) => {
    if (!(error instanceof PartMissing)) throw error;
    lost = error.part;
    return "file_incomplete" as const;
  });
  if (isUnfit(done)) {
    const removed = await markRemoved(db, file.owner_id, file.id);
    if (removed) await removeFile(env, removed);
    return done;
  }
  if (done !== "file_incomplete" && done !== undefined) return done;
  // Parts go missing under one's hands when another request was faster.
  const now = await findOwnFile(db, file.owner_id, file.id);
  if (now?.status !== "receiving") return now;
  if (lost !== undefined) await forgetPart(env.FILES, file, lost);
  return done;
};
