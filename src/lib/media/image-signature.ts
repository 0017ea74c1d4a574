import type { imageTypes } from "#contract/files.ts";

/** Format of a picture by its first bytes: its type, and whether it is animated, which re-encoding would destroy. */
export type ImageFormat = { type: (typeof imageTypes)[number]; isAnimated: boolean };

/** Enough to reach the animation flag, which precedes the first pixels. */
export const signatureBytes = 64 * 1024;

const readAscii = (bytes: Uint8Array, from: number, to: number): string =>
  String.fromCharCode(...bytes.subarray(from, to));

/** Animated PNG (W3C PNG §11.3.6.2): an `acTL` chunk precedes the image data. */
const hasAnimationControl = (bytes: Uint8Array): boolean => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 8; at + 8 <= bytes.length; at += 12 + view.getUint32(at)) {
    const chunk = readAscii(bytes, at + 4, at + 8);
    if (chunk === "acTL") return true;
    if (chunk === "IDAT") return false;
  }
  return false;
};

const webpAnimationBit = 0x02; // RFC 9649 §2.7: flags of an extended file

/** Format of a JPEG, PNG, WebP or GIF, regardless of its name; undefined for everything else. */
export const detectImageFormat = (bytes: Uint8Array): ImageFormat | undefined => {
  if (bytes[0] === 0xff && bytes[1] === 0xd8 && bytes[2] === 0xff) return { type: "image/jpeg", isAnimated: false };
  if (readAscii(bytes, 0, 8) === "\x89PNG\r\n\x1a\n")
    return { type: "image/png", isAnimated: hasAnimationControl(bytes) };
  if (/^GIF8[79]a$/.test(readAscii(bytes, 0, 6))) return { type: "image/gif", isAnimated: true };
  if (readAscii(bytes, 0, 4) === "RIFF" && readAscii(bytes, 8, 12) === "WEBP") {
    const isExtended = readAscii(bytes, 12, 16) === "VP8X";
    return { type: "image/webp", isAnimated: isExtended && ((bytes[20] ?? 0) & webpAnimationBit) !== 0 };
  }
  return undefined;
};
