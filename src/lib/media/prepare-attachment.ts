import { cleanFileName, imageTypes } from "#contract/files.ts";
import { fileMaxPixels } from "#contract/limits.ts";
import type { Drawn } from "./image-resize.ts";
import { kindBytes, type RasterKind, rasterKindOf } from "./image-signature.ts";
import { drawInTurn } from "./image-worker-client.ts";
import { MediaRefusal, type Outgoing, renameTo, requireSize, toPlainFile } from "./outgoing-file.ts";

type Picture = { kind: RasterKind | undefined; drawn: Drawn };

const readKind = async (file: Blob): Promise<RasterKind | undefined> => {
  try {
    return rasterKindOf(new Uint8Array(await file.slice(0, kindBytes).arrayBuffer()));
  } catch {
    throw new MediaRefusal("unreadable"); // gone from the phone meanwhile, or a folder
  }
};

/** The number of pixels by the header alone: an `<img>` knows it before anything is decoded. Undefined for no picture. */
export const countPixels = async (file: Blob): Promise<number | undefined> => {
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

/** Other pictures than those whose bytes we know (AVIF, HEIC, BMP): this browser may be able to draw them. */
const mayBePicture = ({ type }: File): boolean =>
  type.startsWith("image/") && type !== "image/svg+xml" && !imageTypes.some((known) => known === type);

/** Undefined for what no `<img>` shows or no canvas draws. */
const readPicture = async (file: File): Promise<Picture | undefined> => {
  const kind = await readKind(file);
  if (!kind && !mayBePicture(file)) return undefined;
  const pixels = await countPixels(file);
  if (!pixels) return undefined;
  if (pixels > fileMaxPixels) throw new MediaRefusal("tooManyPixels");
  const drawn = await drawInTurn(file, !kind?.moves).catch(() => undefined);
  return drawn && { kind, drawn };
};

/** What is shrunk is worth sending only if it is smaller; of a type that nobody shows it always is. */
export const isWorthShrinking = (kind: RasterKind | undefined, bytes: number, smallBytes: number): boolean =>
  kind === undefined || smallBytes < bytes;

const toOutgoing = (file: File, { kind, drawn }: Picture, wantsOriginal: boolean): Outgoing => {
  const { small, thumb } = drawn;
  if (small && !wantsOriginal && isWorthShrinking(kind, file.size, small.blob.size)) {
    const { blob, width, height } = small;
    const mime = blob.type === "image/webp" ? "image/webp" : "image/jpeg";
    const name = renameTo(file.name, mime === "image/webp" ? "webp" : "jpg");
    requireSize(blob);
    return { blob, body: { type: "image", name, mime, size: blob.size, width, height, thumb } };
  }
  if (!kind) return toPlainFile(file); // the original of a type that nobody shows
  requireSize(file);
  const { width, height } = drawn;
  const name = cleanFileName(file.name);
  return { blob: file, body: { type: "image", name, mime: kind.type, size: file.size, width, height, thumb } };
};

const pictures = new WeakMap<File, Promise<Picture | undefined>>();

/**
 * Makes a file ready to be sent. A picture is drawn once, at most `imageEdgePx` large, and with `original`
 * goes as it is; what moves stays as it is, and what cannot be drawn goes as a plain file. Throws a MediaRefusal.
 */
export const prepareFile = async (file: File, { original = false } = {}): Promise<Outgoing> => {
  if (file.size === 0) throw new MediaRefusal("empty");
  const picture = pictures.get(file) ?? readPicture(file);
  pictures.set(file, picture);
  const read = await picture;
  return read ? toOutgoing(file, read, original) : toPlainFile(file);
};
