import { readLatin1, toDataView } from "#worker/lib/storage/bytes.ts";

/** MP4 (ISO/IEC 14496-12): brands and track kinds. */

/** Brands of files that browsers play. QuickTime, 3GPP and still images (HEIC, AVIF) have other brands. */
const brands = /^(isom|iso[2-9]|mp4[12]|avc1|dash|MSNV|M4[ABV] )$/;
const audioBrands = /^M4[AB] $/;

export type Mp4Box = { type: string; from: number; to: number; isWhole: boolean };

/** Boxes within a range. The last one is truncated at the end of the bytes. */
export function* iterateBoxes(bytes: Uint8Array, from: number, to: number): Generator<Mp4Box> {
  const view = toDataView(bytes);
  for (let at = from; at + 8 <= to; ) {
    const stated = view.getUint32(at);
    const isLong = stated === 1;
    if (isLong && at + 16 > to) return;
    const size = isLong ? Number(view.getBigUint64(at + 8)) : stated === 0 ? to - at : stated;
    const header = isLong ? 16 : 8;
    if (size < header) return;
    const end = Math.min(to, at + size);
    yield { type: readLatin1(bytes, at + 4, at + 8), from: at + header, to: end, isWhole: at + size <= to };
    at = end;
  }
}

/** Tests whether a file declares one of these brands, as its major brand or a compatible one. */
export const hasBrand = (bytes: Uint8Array, wanted: ReadonlySet<string>): boolean => {
  const [first] = iterateBoxes(bytes, 0, bytes.length);
  if (first?.type !== "ftyp") return false;
  const { from, to } = first;
  // A version stands between the major brand and the others.
  for (let at = from; at + 4 <= to; at += at === from ? 8 : 4) {
    if (wanted.has(readLatin1(bytes, at, at + 4))) return true;
  }
  return false;
};

// First boxes of video files. Old QuickTime files declare no brand.
const filmBoxes = new Set(["ftyp", "moov", "mdat", "wide", "free", "skip", "pnot"]);

/** Tests whether the file consists of such boxes, whichever programs play it: MP4, QuickTime, 3GPP. */
export const isIsoMedia = (bytes: Uint8Array): boolean => {
  const [first] = iterateBoxes(bytes, 0, bytes.length);
  return first !== undefined && filmBoxes.has(first.type);
};

/** First box of a type within a range. */
const findBox = (bytes: Uint8Array, { from, to }: Pick<Mp4Box, "from" | "to">, type: string): Mp4Box | undefined => {
  for (const box of iterateBoxes(bytes, from, to)) if (box.type === type) return box;
  return undefined;
};

/** Handler type of a track: `vide`, `soun`. */
export const readTrackHandler = (bytes: Uint8Array, track: Pick<Mp4Box, "from" | "to">): string | undefined => {
  const media = findBox(bytes, track, "mdia");
  const handler = media && findBox(bytes, media, "hdlr");
  return handler && readLatin1(bytes, handler.from + 8, handler.from + 12);
};

/**
 * Detects the media type from the start of the file. If the tracks are at the end, as phones write them, the brand
 * decides whether it is audio; without an audio brand it counts as video.
 */
export const sniffMp4 = (bytes: Uint8Array): "audio/mp4" | "video/mp4" | undefined => {
  const [first] = iterateBoxes(bytes, 0, bytes.length);
  const brand = first?.type === "ftyp" ? readLatin1(bytes, first.from, first.from + 4) : "";
  if (!brands.test(brand)) return undefined;
  const movie = findBox(bytes, { from: 0, to: bytes.length }, "moov");
  const handlers = new Set<string | undefined>();
  if (movie) {
    for (const box of iterateBoxes(bytes, movie.from, movie.to))
      if (box.type === "trak") handlers.add(readTrackHandler(bytes, box));
  }
  if (handlers.has("vide")) return "video/mp4";
  const isSound = audioBrands.test(brand) || (movie?.isWhole === true && handlers.has("soun"));
  return isSound ? "audio/mp4" : "video/mp4";
};
