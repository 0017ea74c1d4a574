import { readLatin1, toDataView } from "#worker/lib/storage/bytes.ts";
import { hasBrand, iterateBoxes, type Mp4Box } from "./mp4.ts";
import { WorkBudget } from "./work-budget.ts";

/**
 * HEIF (ISO/IEC 23008-12), as taken by iPhones (HEIC), and AVIF: images in the boxes of ISO/IEC 14496-12. Metadata such
 * as the location is stored in items of its own, which are overwritten in place, so that all offsets in the file stay
 * valid. The rotation is a property of the image and not affected.
 */

const pictureBrands = new Set(["heic", "heix", "heim", "heis", "hevc", "hevx", "hevm", "hevs"]);
for (const brand of ["mif1", "mif2", "msf1", "avif", "avis", "avio"]) pictureBrands.add(brand);

const metadataItems = new Set(["Exif", "mime", "uri ", "XMP "]);
const metadataBoxes = new Set(["udta", "uuid", "xml ", "bxml"]);
const sequenceMetadata = new Set([...metadataBoxes, "meta"]);
const fullHeaderBytes = 4; // version and flags at the start of a full box

export const hasHeifBrand = (bytes: Uint8Array): boolean => hasBrand(bytes, pictureBrands);

/** The file violates the standard, uses features that are not supported, or exceeds its work budget. */
class InvalidHeifError extends Error {}

/** Sequential reader of the numbers in a box. */
class BoxReader {
  readonly #view: DataView;
  #at: number;
  readonly #to: number;

  constructor(bytes: Uint8Array, from: number, to: number) {
    this.#view = toDataView(bytes);
    this.#at = from;
    this.#to = to;
  }

  get position(): number {
    return this.#at;
  }

  /** Unsigned integer of 0, 1, 2, 4 or 8 bytes; zero bytes read as 0. */
  readUint(width: number): number {
    const at = this.#at;
    this.skip(width);
    switch (width) {
      case 0:
        return 0;
      case 1:
        return this.#view.getUint8(at);
      case 2:
        return this.#view.getUint16(at);
      case 4:
        return this.#view.getUint32(at);
      case 8:
        return Number(this.#view.getBigUint64(at));
      default:
        throw new InvalidHeifError();
    }
  }

  skip(count: number): void {
    this.#at += count;
    if (this.#at > this.#to) throw new InvalidHeifError();
  }
}

/** Image that is being read, with the budget of all its boxes, items and extents. */
type HeifFile = { bytes: Uint8Array; budget: WorkBudget };

const countElement = ({ budget }: HeifFile): void => {
  if (!budget.takeElement()) throw new InvalidHeifError();
};

function* iterateCounted(file: HeifFile, from: number, to: number): Generator<Mp4Box> {
  for (const box of iterateBoxes(file.bytes, from, to)) {
    countElement(file);
    yield box;
  }
}

/** Ids of the metadata items (`iinf`, §8.11.6). */
const listMetadataItems = (file: HeifFile, { from, to }: Mp4Box): Set<number> => {
  const { bytes } = file;
  const fields = new BoxReader(bytes, from, to);
  const version = fields.readUint(1);
  fields.skip(3);
  fields.readUint(version === 0 ? 2 : 4);
  const items = new Set<number>();
  for (const entry of iterateCounted(file, fields.position, to)) {
    if (entry.type !== "infe") continue;
    const info = new BoxReader(bytes, entry.from, entry.to);
    const entryVersion = info.readUint(1);
    if (entryVersion < 2 || entryVersion > 3) throw new InvalidHeifError();
    info.skip(3);
    const id = info.readUint(entryVersion === 2 ? 2 : 4);
    info.skip(2);
    const type = readLatin1(bytes, info.position, info.position + 4);
    if (metadataItems.has(type)) items.add(id);
  }
  return items;
};

type Extent = { from: number; to: number };

/**
 * Byte ranges of these items in the file (`iloc`, §8.11.3). `data` is the box that construction method 1 counts from.
 */
const findExtents = (file: HeifFile, { from, to }: Mp4Box, items: Set<number>, data: Mp4Box | undefined): Extent[] => {
  const fields = new BoxReader(file.bytes, from, to);
  const version = fields.readUint(1);
  if (version > 2) throw new InvalidHeifError();
  fields.skip(3);
  const [sizes, moreSizes] = [fields.readUint(1), fields.readUint(1)];
  const [offsetBytes, lengthBytes, baseBytes] = [sizes >>> 4, sizes & 15, moreSizes >>> 4];
  const indexBytes = version === 0 ? 0 : moreSizes & 15;
  const numberBytes = version < 2 ? 2 : 4;
  const count = fields.readUint(numberBytes);
  const extents: Extent[] = [];
  for (let n = 0; n < count; n++) {
    countElement(file);
    const id = fields.readUint(numberBytes);
    const method = version === 0 ? 0 : fields.readUint(2) & 15;
    const isInThisFile = fields.readUint(2) === 0; // not in another file
    const base = fields.readUint(baseBytes);
    const extentCount = fields.readUint(2);
    if (!items.has(id) || !isInThisFile) {
      fields.skip(extentCount * (indexBytes + offsetBytes + lengthBytes));
      continue;
    }
    const origin = method === 0 ? 0 : method === 1 ? data?.from : undefined;
    if (origin === undefined || lengthBytes === 0) throw new InvalidHeifError();
    for (let i = 0; i < extentCount; i++) {
      countElement(file);
      fields.skip(indexBytes);
      const start = origin + base + fields.readUint(offsetBytes);
      const length = fields.readUint(lengthBytes);
      if (length === 0) throw new InvalidHeifError(); // would mean "up to the end"
      extents.push({ from: start, to: start + length });
    }
  }
  return extents;
};

/** Overwrites the metadata items of the file's `meta` box, and its other boxes of metadata. */
const blankItems = (file: HeifFile, meta: Mp4Box): void => {
  const { bytes } = file;
  const content = { from: meta.from + fullHeaderBytes, to: meta.to };
  const boxes = new Map<string, Mp4Box>(); // the first of each type
  for (const box of iterateCounted(file, content.from, content.to)) if (!boxes.has(box.type)) boxes.set(box.type, box);
  const [infoBox, locationBox] = [boxes.get("iinf"), boxes.get("iloc")];
  if (!meta.isWhole || !infoBox || !locationBox) throw new InvalidHeifError();
  const items = listMetadataItems(file, infoBox);
  let remaining = bytes.length;
  for (const extent of findExtents(file, locationBox, items, boxes.get("idat"))) {
    const end = Math.min(extent.to, bytes.length);
    remaining -= Math.max(0, end - extent.from);
    if (remaining < 0) throw new InvalidHeifError(); // overlapping ranges would be overwritten repeatedly
    bytes.fill(0, extent.from, end);
  }
  blankBoxes(file, content.from, content.to);
};

const depthMax = 8; // boxes within boxes; an image sequence has two levels

/** Overwrites metadata boxes within a range and, in image sequences, in their tracks. */
const blankBoxes = (file: HeifFile, from: number, to: number, names = metadataBoxes, depth = 0): void => {
  if (depth > depthMax) throw new InvalidHeifError();
  for (const box of iterateCounted(file, from, to)) {
    if (box.type === "moov" || box.type === "trak") blankBoxes(file, box.from, box.to, sequenceMetadata, depth + 1);
    else if (names.has(box.type)) file.bytes.fill(0, box.from, box.to);
  }
};

/** The box of a still image's items; undefined in an image sequence. A file has at most one (§8.11.1). */
const findItemBox = (file: HeifFile): Mp4Box | undefined => {
  let meta: Mp4Box | undefined;
  let isSequence = false;
  for (const box of iterateCounted(file, 0, file.bytes.length)) {
    if (box.type === "moov") isSequence = true;
    if (box.type !== "meta") continue;
    if (meta) throw new InvalidHeifError();
    meta = box;
  }
  if (!meta && !isSequence) throw new InvalidHeifError();
  return meta;
};

/** Overwrites the metadata of a complete image; returns false if it cannot be parsed and may still contain metadata. */
export const blankHeifMetadata = (bytes: Uint8Array): boolean => {
  const file = { bytes, budget: new WorkBudget(bytes.length) };
  try {
    const meta = findItemBox(file);
    if (meta) blankItems(file, meta);
    blankBoxes(file, 0, bytes.length);
    return true;
  } catch (error) {
    if (error instanceof InvalidHeifError) return false;
    throw error;
  }
};
