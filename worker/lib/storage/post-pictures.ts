import type { Uuid } from "#contract/ids.ts";
import { fileMaxPixels, pictureEdgePx, pictureSmallPx } from "#contract/limits.ts";
import { type PictureSize, pictureSizes } from "#contract/tala.ts";
import { logWarning } from "#worker/lib/log.ts";
import { readImageHeader } from "./image-header.ts";

/**
 * Pictures of statuses, re-encoded as avatars are: no metadata, no second meaning of the same bytes, no animation. A
 * picture is found by its author and its status, whose id is the phone's own: sent again it has the same place, so a
 * lost answer leaves no second one. All of a person's are below their name.
 */
const edges: Record<PictureSize, number> = { small: pictureSmallPx, large: pictureEdgePx };

export const pictureFolder = (author: Uuid): string => `tala/${author}/`;
const storedAt = (author: Uuid, post: Uuid, size: PictureSize): string =>
  `${pictureFolder(author)}${post}/${size}.webp`;

const encode = async (images: ImagesBinding, bytes: Uint8Array<ArrayBuffer>, edge: number): Promise<ArrayBuffer> => {
  const stream = new Response(bytes).body as ReadableStream<Uint8Array>;
  const result = await images
    .input(stream)
    .transform({ width: edge, height: edge, fit: "scale-down" })
    .output({ format: "image/webp", quality: 80, anim: false });
  return new Response(result.image()).arrayBuffer();
};

export type PictureExtent = { width: number; height: number };

/** Made in every size, and not stored yet. */
export type MadePicture = { extent: PictureExtent; bytes: Record<PictureSize, ArrayBuffer> };

/** What the uploaded bytes show, or why they are no picture. */
export const makePicture = async (
  env: Pick<Env, "IMAGES">,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<MadePicture | "not_an_image" | "image_too_many_pixels"> => {
  const header = readImageHeader(bytes);
  if (!header) return "not_an_image";
  if (header.width * header.height > fileMaxPixels) return "image_too_many_pixels";
  let large: ArrayBuffer;
  let small: ArrayBuffer;
  try {
    large = await encode(env.IMAGES, bytes, edges.large);
    small = await encode(env.IMAGES, new Uint8Array(large), edges.small);
  } catch (error) {
    // The header was right and the rest is not, or the picture is of a kind the encoder does not know.
    logWarning("a picture could not be decoded", error);
    return "not_an_image";
  }
  const made = readImageHeader(new Uint8Array(large));
  if (!made) return "not_an_image";
  return { extent: { width: made.width, height: made.height }, bytes: { small, large } };
};

export const storePicture = async (
  env: Pick<Env, "AVATARS">,
  author: Uuid,
  post: Uuid,
  { bytes }: MadePicture,
): Promise<void> => {
  await Promise.all(
    pictureSizes.map((size) =>
      env.AVATARS.put(storedAt(author, post, size), bytes[size], {
        httpMetadata: { contentType: "image/webp" },
      }),
    ),
  );
};

export const findPicture = (
  env: Pick<Env, "AVATARS">,
  author: Uuid,
  post: Uuid,
  size: PictureSize,
  conditions: Headers,
): Promise<R2Object | R2ObjectBody | null> => env.AVATARS.get(storedAt(author, post, size), { onlyIf: conditions });

export const deletePicture = (env: Pick<Env, "AVATARS">, author: Uuid, post: Uuid): Promise<void> =>
  env.AVATARS.delete(pictureSizes.map((size) => storedAt(author, post, size)));
