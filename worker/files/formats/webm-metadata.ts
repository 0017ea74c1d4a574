import { blankElements, type Element } from "./blank-elements.ts";

/**
 * Blanks the tags of a WebM or Matroska file (RFC 9559 §5.1.8, where recorders store the location) and its attached
 * files while it is streamed. The elements become a `Void` element of the same size, so that all positions in the file
 * stay valid.
 */

const segment = 0x18538067;
const cluster = 0x1f43b675;
const metadataElements = new Set([0x1254c367, 0x1941a469]); // Tags and Attachments
const voidId = 0xec;
const idMaxBytes = 4;
const sizeMaxBytes = 8;

/** Width of a variable-length integer by its first byte; 9 for a zero, which begins none. */
const getWidth = (first = 0): number => Math.clz32(first) - 23;

const readId = (bytes: Uint8Array, at: number, width: number): number => {
  let id = 0;
  for (let i = 0; i < width; i++) id = id * 256 + (bytes[at + i] ?? 0);
  return id;
};

/** Size of an element's content; infinity if it is unknown. */
const readSize = (bytes: Uint8Array, at: number, width: number): number => {
  const mask = 0xff >> width;
  let size = (bytes[at] ?? 0) & mask;
  let isUnknown = size === mask;
  for (let i = 1; i < width; i++) {
    const byte = bytes[at + i] ?? 0;
    size = size * 256 + byte;
    isUnknown &&= byte === 0xff;
  }
  return isUnknown ? Number.POSITIVE_INFINITY : size;
};

/** Writes the header of a `Void` element with this size of its content, as a number of `width` bytes. */
const writeVoidHeader = (bytes: Uint8Array, at: number, width: number, size: number): void => {
  bytes[at] = voidId;
  let rest = size;
  for (let i = width; i >= 1; i--) {
    bytes[at + i] = rest % 256;
    rest = Math.floor(rest / 256);
  }
  bytes[at + 1] = (bytes[at + 1] ?? 0) | (0x100 >> width);
};

/** Blank element in the place of one with this header and size. The shorter id of `Void` leaves room for its size. */
const toVoid = (bytes: Uint8Array, at: number, header: number, size: number): Element => {
  // Tags must state their size. Everything behind a header that does not is blank.
  if (size === Number.POSITIVE_INFINITY) return { headerBytes: header, contentBytes: size, isBlank: true };
  const width = Math.min(sizeMaxBytes, header - 1);
  const contentBytes = size + header - 1 - width;
  writeVoidHeader(bytes, at, width, contentBytes);
  return { headerBytes: 1 + width, contentBytes, isBlank: true };
};

const readElement = (bytes: Uint8Array, at: number, isLast: boolean): Element | undefined => {
  const available = bytes.length - at;
  if (available < idMaxBytes + sizeMaxBytes && !isLast) return undefined;
  const idBytes = getWidth(bytes[at]);
  const sizeBytes = getWidth(bytes[at + idBytes]);
  const header = idBytes + sizeBytes;
  // No element: nothing behind it can be told apart.
  if (idBytes > idMaxBytes || sizeBytes > sizeMaxBytes || header > available)
    return { headerBytes: available, contentBytes: Number.POSITIVE_INFINITY, isBlank: false };
  const id = readId(bytes, at, idBytes);
  const size = readSize(bytes, at + idBytes, sizeBytes);
  if (metadataElements.has(id)) return toVoid(bytes, at, header, size);
  // The size of a cluster is unknown in live recordings: it ends where an element begins that is none of its children.
  const isContainer = id === segment || (id === cluster && size === Number.POSITIVE_INFINITY);
  return { headerBytes: header, contentBytes: isContainer ? 0 : size, isBlank: false };
};

export const blankWebmMetadata = (chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, void> =>
  blankElements(chunks, readElement);
