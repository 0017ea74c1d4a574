import type { imageTypes } from "#contract/files.ts";

/** What the first bytes of a picture say: its type, and whether it moves, which drawing it anew would end. */
export type RasterKind = { type: (typeof imageTypes)[number]; moves: boolean };

/** Enough to meet the mark of an animation, which stands before the first pixels. */
export const kindBytes = 64 * 1024;

const ascii = (bytes: Uint8Array, from: number, to: number): string => String.fromCharCode(...bytes.subarray(from, to));

/** PNG (W3C PNG §11.3.6.2): an animated one says so by a chunk before its pixels. */
const hasAnimationControl = (bytes: Uint8Array): boolean => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 8; at + 8 <= bytes.length; at += 12 + view.getUint32(at)) {
    const chunk = ascii(bytes, at + 4, at + 8);
    if (chunk === "acTL") return true;
    if (chunk === "IDAT") return false;
  }
  return false;
};

const webpAnimationBit = 0x02; // RFC 9649 §2.7: the flags of an extended file

/** The kind of a JPEG, PNG, WebP or GIF, however it is called; undefined for everything else. */
export const rasterKindOf = (bytes: Uint8Array): RasterKind | undefined => {
  if (bytes[0] === 0xff && bytes[1] === 0xd8 && bytes[2] === 0xff) return { type: "image/jpeg", moves: false };
  if (ascii(bytes, 0, 8) === "\x89PNG\r\n\x1a\n") return { type: "image/png", moves: hasAnimationControl(bytes) };
  if (/^GIF8[79]a$/.test(ascii(bytes, 0, 6))) return { type: "image/gif", moves: true };
  if (ascii(bytes, 0, 4) === "RIFF" && ascii(bytes, 8, 12) === "WEBP") {
    const isExtended = ascii(bytes, 12, 16) === "VP8X";
    return { type: "image/webp", moves: isExtended && ((bytes[20] ?? 0) & webpAnimationBit) !== 0 };
  }
  return undefined;
};
