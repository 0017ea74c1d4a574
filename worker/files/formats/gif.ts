import { ByteSlices, readLatin1, toDataView } from "./byte-slices.ts";
import type { StrippedImage } from "./orientation.ts";

/**
 * GIF (GIF89a specification). Kept are frames, their control blocks and the count of loops; comments, plain texts,
 * XMP and other applications' blocks go, and so does what follows the trailer.
 */

const headerBytes = 13;
const trailer = 0x3b;
const image = 0x2c;
const extension = 0x21;
const control = 0xf9;
const application = 0xff;
const discardedLabels = [0xfe, 0x01]; // comment, plain text
const loopExtensions = new Set(["NETSCAPE2.0", "ANIMEXTS1.0"]);

/** Bytes of the colour table that a packed field announces. */
const colorTableBytes = (packed: number): number => (packed & 0x80 ? 3 * 2 ** ((packed & 7) + 1) : 0);

/** Behind the sub-blocks that begin at `from`; undefined when the file ends in one. */
const skipSubBlocks = (bytes: Uint8Array, from: number): number | undefined => {
  let at = from;
  for (let length = bytes[at]; length !== undefined; length = bytes[at]) {
    at += 1 + length;
    if (length === 0) return at;
  }
  return undefined;
};

/** The picture, of the size its header states, without its metadata; undefined when it is not whole. */
export const stripGif = (bytes: Uint8Array, screen: { width: number; height: number }): StrippedImage | undefined => {
  const view = toDataView(bytes);
  const rest = new ByteSlices(bytes);
  let hasImage = false;
  let at = headerBytes + colorTableBytes(bytes[10] ?? 0);
  rest.addRange(0, at);
  while (at < bytes.length) {
    const start = at;
    const kind = bytes[at];
    if (kind === trailer) {
      rest.addRange(at, at + 1);
      return hasImage ? { orientation: 1, slices: rest.list } : undefined;
    }
    if (kind === image) {
      if (at + 10 > bytes.length) return undefined;
      const right = view.getUint16(at + 1, true) + view.getUint16(at + 5, true);
      const bottom = view.getUint16(at + 3, true) + view.getUint16(at + 7, true);
      // A larger frame would make the screen larger than the header said.
      if (right > screen.width || bottom > screen.height) return undefined;
      const end = skipSubBlocks(bytes, at + 11 + colorTableBytes(bytes[at + 9] ?? 0));
      if (end === undefined) return undefined;
      hasImage = true;
      at = end;
      rest.addRange(start, at);
    } else if (kind === extension) {
      const label = bytes[at + 1] ?? 0;
      const end = skipSubBlocks(bytes, at + 2);
      if (end === undefined) return undefined;
      const isLoop = label === application && loopExtensions.has(readLatin1(bytes, at + 3, at + 14));
      if (label !== control && label !== application && !discardedLabels.includes(label)) return undefined;
      at = end;
      if (label === control || isLoop) rest.addRange(start, at);
    } else return undefined;
  }
  return undefined;
};
