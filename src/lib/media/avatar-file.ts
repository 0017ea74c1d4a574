import { avatarMaxBytes, avatarSizes } from "#contract/limits/files.ts";
import type { TextKey } from "#i18n/setup.ts";
import type { CropSquare } from "./crop.ts";

/** Reason for rejecting a chosen file. */
export type AvatarFileError = { title: TextKey; message: TextKey };

const avatarEdgePx = Math.max(...avatarSizes);
const quality = 0.82;

/** A file that this browser cannot decode as a picture. */
export const undecodableAvatar: AvatarFileError = { title: "common.error", message: "common.pictureUnreadable" };

/**
 * Checks a chosen file by type and size, before reading it (SPEC.md §5). A file without a type may be a picture of a
 * format that the system does not know, such as HEIC.
 */
export const findAvatarFileError = (file: { size: number; type: string }): AvatarFileError | undefined => {
  if (file.type !== "" && !file.type.startsWith("image/")) return { title: "common.error", message: "auth.notAnImage" };
  if (file.size > avatarMaxBytes) return { title: "auth.fileTooLargeTitle", message: "auth.fileTooLarge" };
  return undefined;
};

const encodeCanvas = (canvas: HTMLCanvasElement, type: string): Promise<Blob | null> =>
  new Promise((resolve) => canvas.toBlob(resolve, type, quality));

/**
 * Renders a square part of a picture, at most 512 px wide, as WebP (JPEG if the browser cannot encode WebP): about 30
 * kB instead of megabytes, and without the location and camera data of photographs.
 */
export const renderSquare = async (picture: CanvasImageSource, { left, top, side }: CropSquare): Promise<Blob> => {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = Math.max(1, Math.min(Math.round(side), avatarEdgePx));
  const context = canvas.getContext("2d");
  if (!context) throw new Error("no canvas to draw on");
  context.imageSmoothingQuality = "high";
  context.drawImage(picture, left, top, side, side, 0, 0, canvas.width, canvas.height);
  const webp = await encodeCanvas(canvas, "image/webp");
  // Browsers that cannot encode WebP silently return PNG, which is too large for photographs.
  const blob = webp?.type === "image/webp" ? webp : await encodeCanvas(canvas, "image/jpeg");
  if (!blob) throw new Error("the picture could not be written");
  return blob;
};

/** Centre square of a picture. Rejects if the browser cannot decode the file. */
export const resizeAvatar = async (file: Blob): Promise<Blob> => {
  const bitmap = await createImageBitmap(file);
  try {
    const side = Math.min(bitmap.width, bitmap.height);
    return await renderSquare(bitmap, { left: (bitmap.width - side) / 2, top: (bitmap.height - side) / 2, side });
  } finally {
    bitmap.close();
  }
};
