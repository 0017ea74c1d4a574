import { readLatin1, toDataView } from "#worker/lib/storage/bytes.ts";

/**
 * Orientation of an image (TIFF 6.0 and Exif 2.32 §4.6.4, tag 0x0112): 1 as it is, 2 to 8 rotated or mirrored. It is
 * the only metadata that is kept.
 */
export type Orientation = 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8;

/** Bytes of an image without metadata, in slices, and its orientation. */
export type StrippedImage = { orientation: Orientation; slices: Uint8Array[] };

const orientationTag = 0x0112;
const shortType = 3;
const entryBytes = 12;

const isOrientation = (value: number): value is Orientation => Number.isInteger(value) && value >= 1 && value <= 8;

/**
 * Reads the orientation from a TIFF block of a JPEG, PNG or WebP, with or without the Exif prefix; 1 if there is none.
 */
export const readOrientation = (block: Uint8Array): Orientation => {
  const tiff = readLatin1(block, 0, 6) === "Exif\0\0" ? block.subarray(6) : block;
  const order = readLatin1(tiff, 0, 2);
  if (tiff.length < 8 || (order !== "II" && order !== "MM")) return 1;
  const isLittle = order === "II";
  const view = toDataView(tiff);
  const directory = view.getUint32(4, isLittle);
  if (view.getUint16(2, isLittle) !== 42 || directory + 2 > tiff.length) return 1;
  const count = view.getUint16(directory, isLittle);
  for (let i = 0; i < count; i++) {
    const entry = directory + 2 + i * entryBytes;
    if (entry + entryBytes > tiff.length) return 1;
    if (view.getUint16(entry, isLittle) !== orientationTag) continue;
    const value = view.getUint16(entry + 2, isLittle) === shortType ? view.getUint16(entry + 8, isLittle) : 1;
    return isOrientation(value) ? value : 1;
  }
  return 1;
};

/** Creates a TIFF block with the orientation only. */
export const createOrientationBlock = (orientation: Orientation): Uint8Array => {
  const block = new Uint8Array(26);
  const view = toDataView(block);
  view.setUint32(0, 0x4d4d002a); // "MM", 42
  view.setUint32(4, 8); // offset of the directory
  view.setUint16(8, 1); // one entry
  view.setUint16(10, orientationTag);
  view.setUint16(12, shortType);
  view.setUint32(14, 1);
  view.setUint16(18, orientation);
  return block;
};

/** Tests whether width and height are swapped when the image is displayed. */
export const isSideways = (orientation: Orientation): boolean => orientation >= 5;
