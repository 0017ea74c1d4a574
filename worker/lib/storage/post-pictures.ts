import type { Uuid } from "#contract/ids.ts";
import { fileMaxPixels } from "#contract/limits/files.ts";
import { pictureEdgePx, pictureSmallPx } from "#contract/limits/tala.ts";
import { type PictureSize, pictureSizes } from "#contract/tala.ts";
import { logWarning } from "#worker/lib/log.ts";
import { readImageHeader } from "./image-header.ts";

/**
 * Pictures of statuses, re-encoded like avatars: no metadata, no polyglot files, no animation. The key consists of the
 * author and the status id, which the posting device creates, so that a repeated upload replaces the same object. All
 * pictures of a person share one prefix.
 */
const edgesPx: Record<PictureSize, number> = { small: pictureSmallPx, large: pictureEdgePx };

export const toPictureFolder = (author: Uuid): string => `tala/${author}/`;
const toPostPictureKey = (author: Uuid, post: Uuid, size: PictureSize): string =>
  `${toPictureFolder(author)}${post}/${size}.webp`;

const encodeWebp = async (
  images: ImagesBinding,
  bytes: Uint8Array<ArrayBuffer>,
  edge: number,
): Promise<ArrayBuffer> => {
  const stream = new Response(bytes).body as ReadableStream<Uint8Array>;
  const result = await images
    .input(stream)
    .transform({ width: edge, height: edge, fit: "scale-down" })
    .output({ format: "image/webp", quality: 80, anim: false });
  return new Response(result.image()).arrayBuffer();
};

export type PictureDimensions = { width: number; height: number };

/** Encoded in every size, not stored yet. */
export type EncodedPicture = { dimensions: PictureDimensions; bytes: Record<PictureSize, ArrayBuffer> };

/** Encodes an uploaded picture, or returns the reason for a refusal. */
export const createPostPicture = async (
  env: Pick<Env, "IMAGES">,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<EncodedPicture | "not_an_image" | "image_too_many_pixels"> => {
  const header = readImageHeader(bytes);
  if (!header) return "not_an_image";
  if (header.width * header.height > fileMaxPixels) return "image_too_many_pixels";
  let large: ArrayBuffer;
  let small: ArrayBuffer;
  try {
    large = await encodeWebp(env.IMAGES, bytes, edgesPx.large);
    small = await encodeWebp(env.IMAGES, new Uint8Array(large), edgesPx.small);
  } catch (error) {
    // The header is valid and the rest is not, or the encoder does not support this kind of image.
    logWarning("a picture could not be decoded", error);
    return "not_an_image";
  }
  const encoded = readImageHeader(new Uint8Array(large));
  if (!encoded) return "not_an_image";
  return { dimensions: { width: encoded.width, height: encoded.height }, bytes: { small, large } };
};

export const storePostPicture = async (
  env: Pick<Env, "AVATARS">,
  author: Uuid,
  post: Uuid,
  { bytes }: EncodedPicture,
): Promise<void> => {
  await Promise.all(
    pictureSizes.map((size) =>
      env.AVATARS.put(toPostPictureKey(author, post, size), bytes[size], {
        httpMetadata: { contentType: "image/webp" },
      }),
    ),
  );
};

export const findPostPicture = (
  env: Pick<Env, "AVATARS">,
  author: Uuid,
  post: Uuid,
  size: PictureSize,
  conditions: Headers,
): Promise<R2Object | R2ObjectBody | null> =>
  env.AVATARS.get(toPostPictureKey(author, post, size), { onlyIf: conditions });

export const deletePostPicture = (env: Pick<Env, "AVATARS">, author: Uuid, post: Uuid): Promise<void> =>
  env.AVATARS.delete(pictureSizes.map((size) => toPostPictureKey(author, post, size)));
