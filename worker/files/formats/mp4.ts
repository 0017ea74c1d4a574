import { textAt, viewOf } from "./pieces.ts";

/** MP4 (ISO/IEC 14496-12): its brand, and what its tracks are. */

/** Brands of files that browsers play. QuickTime's, 3GPP's and those of still pictures (HEIC, AVIF) are others. */
const brands = /^(isom|iso[2-9]|mp4[12]|avc1|dash|MSNV|M4[ABV] )$/;
const audioBrands = /^M4[AB] $/;

export type Box = { type: string; from: number; to: number; isWhole: boolean };

/** The boxes between two places, the last one cut where the bytes end. */
export function* boxesOf(bytes: Uint8Array, from: number, to: number): Generator<Box> {
  const view = viewOf(bytes);
  for (let at = from; at + 8 <= to; ) {
    const stated = view.getUint32(at);
    const isLong = stated === 1;
    if (isLong && at + 16 > to) return;
    const size = isLong ? Number(view.getBigUint64(at + 8)) : stated === 0 ? to - at : stated;
    const header = isLong ? 16 : 8;
    if (size < header) return;
    const end = Math.min(to, at + size);
    yield { type: textAt(bytes, at + 4, at + 8), from: at + header, to: end, isWhole: at + size <= to };
    at = end;
  }
}

/** All brands of a file that says them: what it is for, and what it may be read as. */
export const brandsOf = (bytes: Uint8Array): string[] => {
  const [first] = boxesOf(bytes, 0, bytes.length);
  if (first?.type !== "ftyp") return [];
  const places = [first.from]; // between the first brand and the others stands a version
  for (let at = first.from + 8; at + 4 <= first.to; at += 4) places.push(at);
  return places.map((at) => textAt(bytes, at, at + 4));
};

// What films begin with: QuickTime's of old say no brand.
const filmBoxes = new Set(["ftyp", "moov", "mdat", "wide", "free", "skip", "pnot"]);

/** Whether the file is made of such boxes, whichever programs play it: MP4, QuickTime's, 3GPP's. */
export const isBoxed = (bytes: Uint8Array): boolean => {
  const [first] = boxesOf(bytes, 0, bytes.length);
  return first !== undefined && filmBoxes.has(first.type);
};

const find = (bytes: Uint8Array, { from, to }: Pick<Box, "from" | "to">, type: string): Box | undefined => {
  for (const box of boxesOf(bytes, from, to)) if (box.type === type) return box;
  return undefined;
};

/** The four letters that say what a track is: `vide`, `soun`. */
const handlerOf = (bytes: Uint8Array, track: Box): string | undefined => {
  const media = find(bytes, track, "mdia");
  const handler = media && find(bytes, media, "hdlr");
  return handler && textAt(bytes, handler.from + 8, handler.from + 12);
};

/**
 * Decided by what stands at the beginning of the file. Where the tracks stand at its end, as phones write them, the
 * brand says whether it is sound only, and without such a brand it is taken for a film.
 */
export const readMp4 = (bytes: Uint8Array): "audio/mp4" | "video/mp4" | undefined => {
  const [first] = boxesOf(bytes, 0, bytes.length);
  const brand = first?.type === "ftyp" ? textAt(bytes, first.from, first.from + 4) : "";
  if (!brands.test(brand)) return undefined;
  const movie = find(bytes, { from: 0, to: bytes.length }, "moov");
  const handlers = new Set<string | undefined>();
  if (movie) {
    for (const box of boxesOf(bytes, movie.from, movie.to))
      if (box.type === "trak") handlers.add(handlerOf(bytes, box));
  }
  if (handlers.has("vide")) return "video/mp4";
  const isSound = audioBrands.test(brand) || (movie?.isWhole === true && handlers.has("soun"));
  return isSound ? "audio/mp4" : "video/mp4";
};
