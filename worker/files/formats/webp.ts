import { readLatin1, toDataView } from "#worker/lib/storage/bytes.ts";
import { KeptBytes, sumLengths } from "./kept-bytes.ts";
import { createOrientationBlock, type Orientation, readOrientation, type StrippedImage } from "./orientation.ts";
import { WorkBudget } from "./work-budget.ts";

/**
 * WebP (RFC 9649 §2). Keeps the chunks that draw the image. Removes Exif, XMP and unknown chunks with their flags, and
 * everything after the declared end.
 */

const riffHeaderBytes = 12;
const chunkHeaderBytes = 8;
const extendedBytes = 10;
const exifFlag = 0x08;
const xmpFlag = 0x04;

const drawingChunks = new Set(["ICCP", "ANIM", "ANMF", "ALPH", "VP8 ", "VP8L"]);
const pictureChunks = new Set(["ANMF", "VP8 ", "VP8L"]);

type CanvasSize = { width: number; height: number };

const readUint24 = (view: DataView, at: number): number => view.getUint16(at, true) + view.getUint8(at + 2) * 0x10000;

/** Size declared in a frame's bitstream. */
const readFrameSize = (view: DataView, type: string, at: number, length: number): CanvasSize | undefined => {
  if (type === "VP8 " && length >= 10) {
    return { width: view.getUint16(at + 6, true) & 0x3fff, height: view.getUint16(at + 8, true) & 0x3fff };
  }
  if (type === "VP8L" && length >= 5) {
    const bits = view.getUint32(at + 1, true);
    return { width: 1 + (bits & 0x3fff), height: 1 + ((bits >>> 14) & 0x3fff) };
  }
  return undefined;
};

/**
 * Tests that the frame of an animation lies within the canvas, or that a still image fills it; otherwise the header's
 * size would be wrong.
 */
const fitsCanvas = (view: DataView, type: string, at: number, length: number, canvas: CanvasSize): boolean => {
  if (type === "ANMF") {
    if (length < 16) return false;
    const right = 2 * readUint24(view, at) + 1 + readUint24(view, at + 6);
    const bottom = 2 * readUint24(view, at + 3) + 1 + readUint24(view, at + 9);
    return right <= canvas.width && bottom <= canvas.height;
  }
  const frame = readFrameSize(view, type, at, length);
  return frame?.width === canvas.width && frame.height === canvas.height;
};

const toChunk = (type: string, data: Uint8Array): Uint8Array => {
  const chunk = new Uint8Array(chunkHeaderBytes + data.length + (data.length % 2));
  chunk.set(new TextEncoder().encode(type));
  toDataView(chunk).setUint32(4, data.length, true);
  chunk.set(data, chunkHeaderBytes);
  return chunk;
};

/** Image of the size in its header, without metadata, in place; undefined if it is incomplete. */
export const stripWebp = (bytes: Uint8Array, canvas: CanvasSize): StrippedImage | undefined => {
  const view = toDataView(bytes);
  const fileEnd = chunkHeaderBytes + view.getUint32(4, true);
  if (fileEnd > bytes.length) return undefined;
  const kept = new KeptBytes(bytes, riffHeaderBytes);
  const budget = new WorkBudget(bytes.length);
  let extended: Uint8Array | undefined;
  let orientation: Orientation = 1;
  let hasPicture = false;
  for (let at = riffHeaderBytes; at < fileEnd; ) {
    if (at + chunkHeaderBytes > fileEnd || !budget.takeElement()) return undefined;
    const type = readLatin1(bytes, at, at + 4);
    const length = view.getUint32(at + 4, true);
    const data = at + chunkHeaderBytes;
    const end = data + length + (length % 2);
    if (end > fileEnd) return undefined;
    if (at === riffHeaderBytes && type === "VP8X") {
      if (length !== extendedBytes) return undefined;
      extended = bytes.slice(at, end);
    } else if (drawingChunks.has(type)) {
      if (pictureChunks.has(type)) {
        if (!fitsCanvas(view, type, data, length, canvas)) return undefined;
        hasPicture = true;
      }
      kept.addRange(at, end);
    } else if (type === "EXIF") orientation = readOrientation(bytes.subarray(data, data + length));
    at = end;
    if (!extended) break; // a simple file has one chunk
  }
  if (!hasPicture) return undefined;
  const slices = [kept.join()];
  if (extended) {
    const flags = (extended[chunkHeaderBytes] ?? 0) & ~(exifFlag | xmpFlag);
    extended[chunkHeaderBytes] = orientation === 1 ? flags : flags | exifFlag;
    slices.unshift(extended);
    if (orientation !== 1) slices.push(toChunk("EXIF", createOrientationBlock(orientation)));
  }
  const header = bytes.slice(0, riffHeaderBytes);
  toDataView(header).setUint32(4, 4 + sumLengths(slices), true);
  return { orientation, slices: [header, ...slices] };
};
