import { avatarMaxBytes, avatarSizes } from "#contract/limits.ts";
import type { TextKey } from "#i18n/setup.ts";
import type { CropSquare } from "./crop.ts";

/** Why a chosen file is not taken. */
export type AvatarFileError = { title: TextKey; message: TextKey };

const avatarEdgePx = Math.max(...avatarSizes);
const quality = 0.82;

/** What is wrong with a chosen file before it is looked into (SPEC.md §5). */
export const findAvatarFileError = (file: { size: number; type: string }): AvatarFileError | undefined => {
  if (!file.type.startsWith("image/")) return { title: "common.error", message: "auth.notAnImage" };
  if (file.size > avatarMaxBytes) return { title: "auth.fileTooLargeTitle", message: "auth.fileTooLarge" };
  return undefined;
};

const encodeCanvas = (canvas: HTMLCanvasElement, type: string): Promise<Blob | null> =>
  new Promise((resolve) => canvas.toBlob(resolve, type, quality));

/**
 * A square of a picture, at most 512 px wide, as WebP (JPEG where the browser writes none): some 30 kB instead of
 * megabytes of data, and without the place and the camera that photographs carry along.
 */
export const renderSquare = async (picture: CanvasImageSource, { left, top, side }: CropSquare): Promise<Blob> => {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = Math.max(1, Math.min(Math.round(side), avatarEdgePx));
  const context = canvas.getContext("2d");
  if (!context) throw new Error("no canvas to draw on");
  context.imageSmoothingQuality = "high";
  context.drawImage(picture, left, top, side, side, 0, 0, canvas.width, canvas.height);
  const webp = await encodeCanvas(canvas, "image/webp");
  // Where WebP cannot be written the canvas silently writes PNG, which is heavy for photographs.
  const blob = webp?.type === "image/webp" ? webp : await encodeCanvas(canvas, "image/jpeg");
  if (!blob) throw new Error("the picture could not be written");
  return blob;
};

/** The middle square of a picture. Rejects when the browser cannot read the file as one. */
export const resizeAvatar = async (file: Blob): Promise<Blob> => {
  const bitmap = await createImageBitmap(file);
  try {
    const side = Math.min(bitmap.width, bitmap.height);
    return await renderSquare(bitmap, { left: (bitmap.width - side) / 2, top: (bitmap.height - side) / 2, side });
  } finally {
    bitmap.close();
  }
};
