import { randomBytes } from "node:crypto";
import type { Uuid } from "#contract/ids.ts";
import { avatarMaxPixels, avatarSizes } from "#contract/limits/files.ts";
import { logWarning } from "#worker/lib/log.ts";
import { readImageHeader } from "./image-header.ts";

/**
 * Avatars, re-encoded to one square WebP: no metadata, no polyglot files, no animation. The key is
 * `{userId}_{timestamp}.{ext}` (SPEC.md) with 128 random bits, so that it cannot be guessed.
 */
export type AvatarSize = (typeof avatarSizes)[number];
const [smallSize, largeSize] = avatarSizes;

const randomPartBytes = 16;
export const avatarKeyPattern = /^[0-9a-f-]{36}_[0-9]{13}_[A-Za-z0-9_-]{22}\.webp$/;

const createAvatarKey = (user: Uuid, now: number): string =>
  `${user}_${now}_${randomBytes(randomPartBytes).toString("base64url")}.webp`;

const toAvatarPath = (key: string, size: AvatarSize): string => `${size}/${key}`;

const toSquare = async (
  images: ImagesBinding,
  image: ReadableStream<Uint8Array>,
  size: AvatarSize,
): Promise<ArrayBuffer> => {
  const result = await images
    .input(image)
    .transform({ width: size, height: size, fit: "cover" })
    .output({ format: "image/webp", quality: 82, anim: false });
  return new Response(result.image()).arrayBuffer();
};

const toStream = (bytes: BufferSource): ReadableStream<Uint8Array> =>
  new Response(bytes).body as ReadableStream<Uint8Array>;

const putAvatar = (bucket: R2Bucket, key: string, size: AvatarSize, bytes: ArrayBuffer) =>
  bucket.put(toAvatarPath(key, size), bytes, { httpMetadata: { contentType: "image/webp" } });

/** Stores an uploaded picture and returns its key, or the reason for a refusal. */
export const storeAvatar = async (
  env: Env,
  user: Uuid,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<{ key: string } | { refused: "not_an_image" | "image_too_many_pixels" }> => {
  const header = readImageHeader(bytes);
  if (!header) return { refused: "not_an_image" };
  if (header.width * header.height > avatarMaxPixels) return { refused: "image_too_many_pixels" };
  let large: ArrayBuffer;
  try {
    large = await toSquare(env.IMAGES, toStream(bytes), largeSize);
  } catch (error) {
    // The header is valid and the rest is not, or the encoder does not support this kind of image.
    logWarning("an avatar could not be decoded", error);
    return { refused: "not_an_image" };
  }
  const key = createAvatarKey(user, Date.now());
  await putAvatar(env.AVATARS, key, largeSize, large);
  return { key };
};

/**
 * Stored picture in a size, honouring the request's `If-None-Match`; null if there is none. The small size is created
 * on first request.
 */
export const findAvatar = async (
  env: Env,
  key: string,
  size: AvatarSize,
  conditions: Headers,
): Promise<R2Object | R2ObjectBody | null> => {
  const stored = await env.AVATARS.get(toAvatarPath(key, size), { onlyIf: conditions });
  if (stored || size === largeSize) return stored;
  const large = await env.AVATARS.get(toAvatarPath(key, largeSize));
  if (!large) return null;
  await putAvatar(env.AVATARS, key, smallSize, await toSquare(env.IMAGES, large.body, smallSize));
  return env.AVATARS.get(toAvatarPath(key, smallSize), { onlyIf: conditions });
};

export const deleteAvatar = (env: Env, key: string): Promise<void> =>
  env.AVATARS.delete(avatarSizes.map((size) => toAvatarPath(key, size)));
