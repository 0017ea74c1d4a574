import { rgbaToThumbHash } from "thumbhash";
import { imageEdgePx } from "#contract/limits/files.ts";
import type { Size } from "./crop.ts";

// Runs in a worker, or in the page if workers are unavailable.

const quality = 0.8;
const thumbEdgePx = 64; // the hash stores less detail than this

type Canvas = OffscreenCanvas | HTMLCanvasElement;

export type ResizedImage = Size & { thumb: string; small: { blob: Blob; width: number; height: number } | undefined };

/** Largest size with the same aspect ratio whose longer edge is at most `edge`; never larger than the original. */
export const fitWithin = ({ width, height }: Size, edge: number): Size => {
  const scale = Math.min(1, edge / Math.max(width, height));
  return { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) };
};

const createCanvas = ({ width, height }: Size): Canvas => {
  if (typeof OffscreenCanvas !== "undefined") return new OffscreenCanvas(width, height);
  return Object.assign(document.createElement("canvas"), { width, height });
};

const drawOnCanvas = (source: CanvasImageSource, size: Size, background?: string) => {
  const canvas = createCanvas(size);
  const context = canvas.getContext("2d") as OffscreenCanvasRenderingContext2D | CanvasRenderingContext2D | null;
  if (!context) throw new Error("no canvas to be had");
  context.imageSmoothingQuality = "high";
  if (background) {
    context.fillStyle = background;
    context.fillRect(0, 0, size.width, size.height);
  }
  context.drawImage(source, 0, 0, size.width, size.height);
  return { canvas, context };
};

const encodeImage = async (canvas: Canvas, type: string): Promise<Blob> => {
  if ("convertToBlob" in canvas) return canvas.convertToBlob({ type, quality });
  return new Promise((resolve, reject) =>
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the picture was not encoded"))), type, quality),
  );
};

/** WebP, or JPEG on white if the browser cannot encode WebP. */
const encodeResized = async (bitmap: ImageBitmap, size: Size): Promise<Blob> => {
  const webp = await encodeImage(drawOnCanvas(bitmap, size).canvas, "image/webp");
  return webp.type === "image/webp" ? webp : encodeImage(drawOnCanvas(bitmap, size, "#fff").canvas, "image/jpeg");
};

const computeThumbHash = (bitmap: ImageBitmap, fullSize: Size): string => {
  const { width, height } = fitWithin(fullSize, thumbEdgePx);
  const { data } = drawOnCanvas(bitmap, { width, height }).context.getImageData(0, 0, width, height);
  return btoa(String.fromCharCode(...rgbaToThumbHash(width, height, data)))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
};

/**
 * Decodes a picture, rotated by its EXIF orientation (the default of `createImageBitmap`, whose option for it has other
 * values in Chrome below 111), computes its thumbhash and, on request, resizes it to at most `edge` pixels. Rejects if
 * it cannot be decoded.
 */
export const resizeImage = async (file: Blob, wantsSmall: boolean, edge = imageEdgePx): Promise<ResizedImage> => {
  const bitmap = await createImageBitmap(file);
  try {
    const fullSize = { width: bitmap.width, height: bitmap.height };
    const size = fitWithin(fullSize, edge);
    const small = wantsSmall ? { blob: await encodeResized(bitmap, size), ...size } : undefined;
    return { ...fullSize, thumb: computeThumbHash(bitmap, fullSize), small };
  } finally {
    bitmap.close();
  }
};
