import { readLatin1, toDataView } from "#worker/lib/storage/bytes.ts";
import { KeptBytes } from "./kept-bytes.ts";
import type { StrippedImage } from "./orientation.ts";
import { WorkBudget } from "./work-budget.ts";

/**
 * GIF (GIF89a specification). Keeps frames, their control blocks and the loop count. Removes comments, plain texts, XMP
 * and other application blocks, and everything after the trailer.
 */

const headerBytes = 13;
const trailer = 0x3b;
const image = 0x2c;
const extension = 0x21;
const control = 0xf9;
const application = 0xff;
const discardedLabels = [0xfe, 0x01]; // comment, plain text
const loopExtensions = new Set(["NETSCAPE2.0", "ANIMEXTS1.0"]);

/** Size of the colour table declared by a packed field. */
const colorTableBytes = (packed: number): number => (packed & 0x80 ? 3 * 2 ** ((packed & 7) + 1) : 0);

/** Offset after the sub-blocks that start at `from`; undefined if the file ends within them. */
const skipSubBlocks = (bytes: Uint8Array, from: number): number | undefined => {
  let at = from;
  for (let length = bytes[at]; length !== undefined; length = bytes[at]) {
    at += 1 + length;
    if (length === 0) return at;
  }
  return undefined;
};

/** Image of the size in its header, without metadata, in place; undefined if it is incomplete. */
export const stripGif = (bytes: Uint8Array, screen: { width: number; height: number }): StrippedImage | undefined => {
  const view = toDataView(bytes);
  const kept = new KeptBytes(bytes, 0);
  const budget = new WorkBudget(bytes.length);
  let hasImage = false;
  let at = headerBytes + colorTableBytes(bytes[10] ?? 0);
  kept.addRange(0, at);
  while (at < bytes.length && budget.takeElement()) {
    const start = at;
    const kind = bytes[at];
    if (kind === trailer) {
      kept.addRange(at, at + 1);
      return hasImage ? { orientation: 1, slices: [kept.join()] } : undefined;
    }
    if (kind === image) {
      if (at + 10 > bytes.length) return undefined;
      const right = view.getUint16(at + 1, true) + view.getUint16(at + 5, true);
      const bottom = view.getUint16(at + 3, true) + view.getUint16(at + 7, true);
      // A larger frame would enlarge the screen beyond the size in the header.
      if (right > screen.width || bottom > screen.height) return undefined;
      const end = skipSubBlocks(bytes, at + 11 + colorTableBytes(bytes[at + 9] ?? 0));
      if (end === undefined) return undefined;
      hasImage = true;
      at = end;
      kept.addRange(start, at);
    } else if (kind === extension) {
      const label = bytes[at + 1] ?? 0;
      const end = skipSubBlocks(bytes, at + 2);
      if (end === undefined) return undefined;
      const isLoop = label === application && loopExtensions.has(readLatin1(bytes, at + 3, at + 14));
      if (label !== control && label !== application && !discardedLabels.includes(label)) return undefined;
      at = end;
      if (label === control || isLoop) kept.addRange(start, at);
    } else return undefined;
  }
  return undefined;
};
