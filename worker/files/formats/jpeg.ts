import { readLatin1, toDataView } from "#worker/lib/storage/bytes.ts";
import { isStandaloneMarker } from "#worker/lib/storage/image-header.ts";
import { KeptBytes } from "./kept-bytes.ts";
import { createOrientationBlock, type Orientation, readOrientation, type StrippedImage } from "./orientation.ts";
import { WorkBudget } from "./work-budget.ts";

/**
 * JPEG (ITU-T T.81 §B, JFIF 1.02). Keeps what draws the image: tables, frame, scans, the colour profile and Adobe's
 * colour transform. Removes everything else: Exif and XMP (APP1), Photoshop (APP13), further images (MPF), thumbnails,
 * comments, and data after the end. A file truncated within its scans is ended there, as far as browsers display it.
 */

const soi = 0xd8;
const soiBytes = 2;
const eoi = 0xd9;
const sos = 0xda;
const frames = [0xc0, 0xc1, 0xc2]; // baseline, extended and progressive: the kinds browsers display
const tables = [0xc4, 0xdb, 0xdd]; // DHT, DQT, DRI
const comment = 0xfe;
const jfifBytes = 18; // with its marker, without a thumbnail

const isApplication = (marker: number): boolean => marker >= 0xe0 && marker <= 0xef;
const isReserved = (marker: number): boolean => marker >= 0xf0 && marker <= 0xfd;

/** End of the entropy-coded data that starts at `from`: the next marker that has a length, or the end of the bytes. */
const findScanEnd = (bytes: Uint8Array, from: number): number => {
  let at = bytes.indexOf(0xff, from);
  while (at !== -1 && at + 1 < bytes.length) {
    const next = bytes[at + 1] ?? 0;
    if (next === 0 || isStandaloneMarker(next)) at = bytes.indexOf(0xff, at + 2);
    else if (next === 0xff) at += 1;
    else return at;
  }
  return at === -1 ? bytes.length : at;
};

const toJfif = (segment: Uint8Array): Uint8Array => {
  const plain = segment.slice(0, jfifBytes);
  plain.set([0, jfifBytes - 2], 2);
  plain.set([0, 0], jfifBytes - 2); // no thumbnail
  return plain;
};

const toExifSegment = (orientation: Orientation): Uint8Array => {
  const block = createOrientationBlock(orientation);
  const segment = new Uint8Array(10 + block.length);
  toDataView(segment).setUint32(0, 0xffe10000 + segment.length - 2);
  segment.set(new TextEncoder().encode("Exif\0\0"), 4);
  segment.set(block, 10);
  return segment;
};

/** Image without metadata, in place; undefined if nothing of it can be displayed. */
export const stripJpeg = (bytes: Uint8Array): StrippedImage | undefined => {
  const view = toDataView(bytes);
  const kept = new KeptBytes(bytes, soiBytes);
  const budget = new WorkBudget(bytes.length);
  let jfif: Uint8Array | undefined;
  let orientation: Orientation | undefined;
  let hasFrame = false;
  let hasScan = false;
  const finish = (): StrippedImage | undefined => {
    if (!hasScan) return undefined;
    const head = [Uint8Array.of(0xff, soi), ...(jfif ? [jfif] : [])];
    const appliedOrientation = orientation ?? 1;
    if (appliedOrientation !== 1) head.push(toExifSegment(appliedOrientation));
    return { orientation: appliedOrientation, slices: [...head, kept.join(), Uint8Array.of(0xff, eoi)] };
  };
  let at = soiBytes;
  while (at + 4 <= bytes.length && bytes[at] === 0xff) {
    const marker = bytes[at + 1] ?? 0;
    if (marker === 0xff) {
      at += 1; // fill byte
      continue;
    }
    if (isStandaloneMarker(marker)) {
      at += 2;
      continue;
    }
    if (marker === eoi) return finish();
    if (!budget.takeElement()) return undefined;
    const length = view.getUint16(at + 2);
    const end = at + 2 + length;
    if (length < 2) return undefined;
    if (end > bytes.length) return finish(); // truncated
    const name = readLatin1(bytes, at + 4, Math.min(at + 16, end));
    if (marker === sos) {
      if (!hasFrame) return undefined;
      const scanEnd = findScanEnd(bytes, end);
      kept.addRange(at, scanEnd);
      hasScan = true;
      at = scanEnd;
      continue;
    }
    if (frames.includes(marker)) {
      if (hasFrame) return undefined; // with two frames, the decoder would choose the size
      hasFrame = true;
      kept.addRange(at, end);
    } else if (tables.includes(marker)) kept.addRange(at, end);
    else if (marker === 0xe0 && name.startsWith("JFIF\0") && length >= jfifBytes - 2) {
      jfif ??= toJfif(bytes.subarray(at, end));
    } else if (marker === 0xe1 && name.startsWith("Exif\0\0")) {
      orientation ??= readOrientation(bytes.subarray(at + 4, end));
    } else if (marker === 0xe2 && name === "ICC_PROFILE\0") kept.addRange(at, end);
    else if (marker === 0xee && name.startsWith("Adobe")) kept.addRange(at, end);
    else if (!isApplication(marker) && !isReserved(marker) && marker !== comment) return undefined;
    at = end;
  }
  return finish();
};
