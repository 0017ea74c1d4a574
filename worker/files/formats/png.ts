import { crc32 } from "node:zlib";
import { readLatin1, toDataView } from "#worker/lib/storage/bytes.ts";
import { KeptBytes } from "./kept-bytes.ts";
import { createOrientationBlock, type Orientation, readOrientation, type StrippedImage } from "./orientation.ts";
import { WorkBudget } from "./work-budget.ts";

/**
 * PNG (W3C PNG, third edition). Keeps the chunks that draw the image and its frames. Removes texts, times, Exif and
 * private chunks, and everything after the end.
 */

const signatureBytes = 8;
const frameBytes = 12; // length, type and checksum around a chunk's data
const headerEnd = signatureBytes + frameBytes + 13;

const drawingChunks = new Set([
  ...["IHDR", "PLTE", "IDAT", "IEND", "tRNS"],
  ...["gAMA", "cHRM", "sRGB", "iCCP", "sBIT", "bKGD", "pHYs", "cICP", "mDCV", "cLLI"],
  ...["acTL", "fcTL", "fdAT"],
]);

/** An upper-case first letter marks a chunk that a decoder must know (§5.4). */
const isCritical = (type: string): boolean => /^[A-Z]/.test(type);

const toExifChunk = (orientation: Orientation): Uint8Array => {
  const block = createOrientationBlock(orientation);
  const chunk = new Uint8Array(frameBytes + block.length);
  const view = toDataView(chunk);
  view.setUint32(0, block.length);
  chunk.set(new TextEncoder().encode("eXIf"), 4);
  chunk.set(block, 8);
  view.setUint32(chunk.length - 4, crc32(chunk.subarray(4, -4)));
  return chunk;
};

/** Image without metadata, in place; undefined if it is incomplete. */
export const stripPng = (bytes: Uint8Array): StrippedImage | undefined => {
  const view = toDataView(bytes);
  const kept = new KeptBytes(bytes, headerEnd);
  const budget = new WorkBudget(bytes.length);
  let orientation: Orientation = 1;
  let hasData = false;
  let at = signatureBytes;
  while (at + frameBytes <= bytes.length && budget.takeElement()) {
    const length = view.getUint32(at);
    const end = at + frameBytes + length;
    if (end > bytes.length) return undefined;
    const type = readLatin1(bytes, at + 4, at + 8);
    if ((type === "IHDR") !== (at === signatureBytes) || (type === "IHDR" && end !== headerEnd)) return undefined;
    if (drawingChunks.has(type)) {
      if (crc32(bytes.subarray(at + 4, end - 4)) !== view.getUint32(end - 4)) return undefined;
      if (at !== signatureBytes) kept.addRange(at, end);
      hasData ||= type === "IDAT";
      if (type === "IEND") {
        if (!hasData) return undefined;
        const head = [bytes.subarray(0, headerEnd), ...(orientation === 1 ? [] : [toExifChunk(orientation)])];
        return { orientation, slices: [...head, kept.join()] };
      }
    } else if (type === "eXIf") orientation = readOrientation(bytes.subarray(at + 8, end - 4));
    else if (isCritical(type)) return undefined;
    at = end;
  }
  return undefined;
};
