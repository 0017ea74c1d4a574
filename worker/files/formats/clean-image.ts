import type { imageTypes } from "#contract/files.ts";
import { fileMaxPixels } from "#contract/limits/files.ts";
import { readLatin1 } from "#worker/lib/storage/bytes.ts";
import { type ImageHeader, readImageHeader } from "#worker/lib/storage/image-header.ts";
import { stripGif } from "./gif.ts";
import { stripJpeg } from "./jpeg.ts";
import { isSideways, type StrippedImage } from "./orientation.ts";
import { stripPng } from "./png.ts";
import { stripWebp } from "./webp.ts";

export type CleanImage = {
  type: (typeof imageTypes)[number];
  width: number; // as displayed, after rotation
  height: number;
  slices: Uint8Array[];
};

const stripMetadata = (bytes: Uint8Array, header: ImageHeader): StrippedImage | undefined => {
  switch (header.type) {
    case "jpeg":
      return stripJpeg(bytes);
    case "png":
      return stripPng(bytes);
    case "webp":
      return stripWebp(bytes, header);
    case "gif":
      return stripGif(bytes, header);
  }
};

const signatures = ["\xff\xd8\xff", "\x89PNG\r\n\x1a\n", "GIF87a", "GIF89a"];

/** Tests whether the first bytes are an image signature, so that the whole file is worth reading. */
export const hasImageSignature = (bytes: Uint8Array): boolean => {
  const begin = readLatin1(bytes, 0, 12);
  return signatures.some((signature) => begin.startsWith(signature)) || /^RIFF.{4}WEBP$/s.test(begin);
};

const hasTooManyPixels = ({ width, height }: ImageHeader): boolean => width * height > fileMaxPixels;

/** Tests whether the header of an image exceeds the pixel limit. */
export const exceedsPixelLimit = (bytes: Uint8Array): boolean => {
  const header = readImageHeader(bytes);
  return header !== undefined && hasTooManyPixels(header);
};

/**
 * Image without metadata; undefined if the bytes are not a valid image, or consist of more parts than their size
 * justifies. Nothing is decoded. The bytes are changed in place, and the result refers to them.
 */
export const cleanImage = (bytes: Uint8Array): CleanImage | "image_too_many_pixels" | undefined => {
  const header = readImageHeader(bytes);
  if (!header) return undefined;
  const { width, height } = header;
  if (hasTooManyPixels(header)) return "image_too_many_pixels";
  const stripped = stripMetadata(bytes, header);
  if (!stripped) return undefined;
  // Chromium applies the orientation to JPEG and PNG, but not to WebP.
  const isTurned = header.type !== "webp" && isSideways(stripped.orientation);
  const size = isTurned ? { width: height, height: width } : { width, height };
  return { type: `image/${header.type}`, ...size, slices: stripped.slices };
};
