import { cleanFileName, imageTypes } from "#contract/files.ts";
import { fileMaxPixels } from "#contract/limits/files.ts";
import type { ResizedImage } from "./image-resize.ts";
import { detectImageFormat, type ImageFormat, signatureBytes } from "./image-signature.ts";
import { queueResize } from "./image-worker-client.ts";
import { MediaError, type PreparedFile, replaceExtension, requireValidSize, toPlainFile } from "./outgoing-file.ts";

type DecodedPicture = { kind: ImageFormat | undefined; drawn: ResizedImage };

const readImageFormat = async (file: Blob): Promise<ImageFormat | undefined> => {
  try {
    return detectImageFormat(new Uint8Array(await file.slice(0, signatureBytes).arrayBuffer()));
  } catch {
    throw new MediaError("unreadable"); // the file was removed in the meantime, or is a folder
  }
};

/**
 * Number of pixels from the header alone: an `<img>` knows it before decoding. Undefined if the file is not a picture.
 */
export const readPixelCount = async (file: Blob): Promise<number | undefined> => {
  const url = URL.createObjectURL(file);
  try {
    const image = new Image();
    const isPicture = await new Promise<boolean>((resolve) => {
      image.onload = () => resolve(true);
      image.onerror = () => resolve(false);
      image.src = url;
    });
    return isPicture ? image.naturalWidth * image.naturalHeight : undefined;
  } finally {
    URL.revokeObjectURL(url);
  }
};

/** Picture formats without a known signature (AVIF, HEIC, BMP), which this browser may be able to decode. */
const canBePicture = ({ type }: File): boolean =>
  type.startsWith("image/") && type !== "image/svg+xml" && !imageTypes.some((known) => known === type);

/** Undefined if the browser cannot decode the file. */
const decodePicture = async (file: File): Promise<DecodedPicture | undefined> => {
  const kind = await readImageFormat(file);
  if (!kind && !canBePicture(file)) return undefined;
  const pixels = await readPixelCount(file);
  if (!pixels) return undefined;
  if (pixels > fileMaxPixels) throw new MediaError("tooManyPixels");
  const resized = await queueResize(file, !kind?.isAnimated).catch(() => undefined);
  return resized && { kind, drawn: resized };
};

/** A resized picture is sent only if it is smaller; for a format that browsers do not show it always is sent. */
export const isWorthShrinking = (kind: ImageFormat | undefined, bytes: number, smallBytes: number): boolean =>
  kind === undefined || smallBytes < bytes;

const toPreparedFile = (file: File, { kind, drawn: resized }: DecodedPicture, wantsOriginal: boolean): PreparedFile => {
  const { small, thumb } = resized;
  if (small && !wantsOriginal && isWorthShrinking(kind, file.size, small.blob.size)) {
    const { blob, width, height } = small;
    const mime = blob.type === "image/webp" ? "image/webp" : "image/jpeg";
    const name = replaceExtension(file.name, mime === "image/webp" ? "webp" : "jpg");
    requireValidSize(blob);
    return { blob, body: { type: "image", name, mime, size: blob.size, width, height, thumb } };
  }
  if (!kind) return toPlainFile(file); // original of a format that browsers do not show
  requireValidSize(file);
  const { width, height } = resized;
  const name = cleanFileName(file.name);
  return { blob: file, body: { type: "image", name, mime: kind.type, size: file.size, width, height, thumb } };
};

const decodedPictures = new WeakMap<File, Promise<DecodedPicture | undefined>>();

/**
 * Prepares a file for sending. A picture is resized to at most `imageEdgePx`, or sent unchanged with `original`.
 * Animations stay unchanged, and files that cannot be decoded are sent as plain files. Throws `MediaError`.
 */
export const prepareFile = async (file: File, { original = false } = {}): Promise<PreparedFile> => {
  if (file.size === 0) throw new MediaError("empty");
  const picture = decodedPictures.get(file) ?? decodePicture(file);
  decodedPictures.set(file, picture);
  const decoded = await picture;
  return decoded ? toPreparedFile(file, decoded, original) : toPlainFile(file);
};
