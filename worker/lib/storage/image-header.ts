import { readLatin1, toDataView } from "./bytes.ts";

/** Header of a raster image. Nothing is decoded, so that a decompression bomb is detected safely. */
export type ImageHeader = { type: "jpeg" | "png" | "webp" | "gif"; width: number; height: number };

/** PNG (W3C PNG §11.2.1): IHDR is the first chunk. */
const readPng = (bytes: Uint8Array, view: DataView): ImageHeader | undefined =>
  readLatin1(bytes, 0, 8) === "\x89PNG\r\n\x1a\n" && readLatin1(bytes, 12, 16) === "IHDR"
    ? { type: "png", width: view.getUint32(16), height: view.getUint32(20) }
    : undefined;

const readGif = (bytes: Uint8Array, view: DataView): ImageHeader | undefined =>
  /^GIF8[79]a$/.test(readLatin1(bytes, 0, 6))
    ? { type: "gif", width: view.getUint16(6, true), height: view.getUint16(8, true) }
    : undefined;

/** WebP (RFC 9649 §2): the canvas of an extended file, else the frame of its only chunk. */
const readWebp = (bytes: Uint8Array, view: DataView): ImageHeader | undefined => {
  if (readLatin1(bytes, 0, 4) !== "RIFF" || readLatin1(bytes, 8, 12) !== "WEBP") return undefined;
  switch (readLatin1(bytes, 12, 16)) {
    case "VP8X":
      return {
        type: "webp",
        width: 1 + (view.getUint32(24, true) & 0xffffff),
        height: 1 + (view.getUint32(26, true) >>> 8),
      };
    case "VP8L": {
      const bits = view.getUint32(21, true);
      return { type: "webp", width: 1 + (bits & 0x3fff), height: 1 + ((bits >>> 14) & 0x3fff) };
    }
    case "VP8 ":
      return { type: "webp", width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff };
    default:
      return undefined;
  }
};

const isFrameStart = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);

/** Tests for TEM and the restart markers, which have no length field. All others have one that includes itself. */
export const isStandaloneMarker = (marker: number): boolean => marker === 0x01 || (marker >= 0xd0 && marker <= 0xd7);

/** Zero, SOI, EOI and SOS: none of them may precede the frame header. */
const misplacedMarkers = [0x00, 0xd8, 0xd9, 0xda];

/** JPEG (ITU-T T.81 §B): segments up to the first frame header. */
const readJpeg = (bytes: Uint8Array, view: DataView): ImageHeader | undefined => {
  if (bytes[0] !== 0xff || bytes[1] !== 0xd8 || bytes[2] !== 0xff) return undefined;
  let at = 2;
  while (at + 9 <= bytes.length) {
    if (bytes[at] !== 0xff) return undefined;
    const marker = bytes[at + 1] ?? 0;
    if (marker === 0xff)
      at += 1; // fill byte
    else if (isStandaloneMarker(marker)) at += 2;
    else if (isFrameStart(marker))
      return { type: "jpeg", height: view.getUint16(at + 5), width: view.getUint16(at + 7) };
    else if (misplacedMarkers.includes(marker) || view.getUint16(at + 2) < 2) return undefined;
    else at += 2 + view.getUint16(at + 2);
  }
  return undefined;
};

const headerBytes = 30; // the longest of the fixed-size headers

/** Header of a JPEG, PNG, WebP or GIF, detected from the bytes; undefined for anything else. */
export const readImageHeader = (bytes: Uint8Array): ImageHeader | undefined => {
  if (bytes.length < headerBytes) return undefined;
  const view = toDataView(bytes);
  const header = readPng(bytes, view) ?? readGif(bytes, view) ?? readWebp(bytes, view) ?? readJpeg(bytes, view);
  return header && header.width > 0 && header.height > 0 ? header : undefined;
};
