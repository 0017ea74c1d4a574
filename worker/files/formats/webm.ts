import { readLatin1 } from "#worker/lib/storage/bytes.ts";

/** WebM (RFC 8794 EBML, RFC 9559 Matroska): document type and track kinds. */

const ebmlHeader = 0x1a45dfa3;
const documentType = 0x4282;
const segment = 0x18538067;
const tracks = 0x1654ae6b;
const trackEntry = 0xae;
const trackType = 0x83;
const videoTrack = 1;
const audioTrack = 2;

type MatroskaElement = { id: number; from: number; to: number };

/**
 * Variable-length integer (EBML vint); `width` is its length in bytes. With `isId` the marker bit is part of the value.
 */
const readVariableInt = (
  bytes: Uint8Array,
  at: number,
  isId: boolean,
): { value: number; width: number } | undefined => {
  const first = bytes[at];
  if (first === undefined || first === 0) return undefined;
  const width = Math.clz32(first) - 23;
  if (at + width > bytes.length || (isId && width > 4)) return undefined;
  let value = isId ? first : first & (0xff >> width);
  let isUnknown = value === 0xff >> width;
  for (let i = 1; i < width; i++) {
    const byte = bytes[at + i] ?? 0;
    value = value * 256 + byte;
    isUnknown &&= byte === 0xff;
  }
  return { value: !isId && isUnknown ? Number.POSITIVE_INFINITY : value, width };
};

/** Elements within a range. The last one is truncated at the end of the bytes. */
function* iterateElements(bytes: Uint8Array, from: number, to: number): Generator<MatroskaElement> {
  for (let at = from; at < to; ) {
    const id = readVariableInt(bytes, at, true);
    const size = id && readVariableInt(bytes, at + id.width, false);
    if (!id || !size) return;
    const start = at + id.width + size.width;
    const end = Math.min(to, start + size.value);
    yield { id: id.value, from: start, to: end };
    at = end;
  }
}

const findElement = (
  bytes: Uint8Array,
  { from, to }: Pick<MatroskaElement, "from" | "to">,
  id: number,
): MatroskaElement | undefined => {
  for (const element of iterateElements(bytes, from, to)) if (element.id === id) return element;
  return undefined;
};

/** Tests whether the file consists of EBML elements: WebM and Matroska. */
export const isEbml = (bytes: Uint8Array): boolean => {
  const [header] = iterateElements(bytes, 0, bytes.length);
  return header?.id === ebmlHeader;
};

/** Detects the media type from the start of the file; undefined if it is not WebM or its tracks are missing. */
export const sniffWebm = (bytes: Uint8Array): "audio/webm" | "video/webm" | undefined => {
  const whole = { from: 0, to: bytes.length };
  const [header] = iterateElements(bytes, 0, bytes.length);
  if (header?.id !== ebmlHeader) return undefined;
  const type = findElement(bytes, header, documentType);
  if (!type || type.to - type.from !== 4 || readLatin1(bytes, type.from, type.to) !== "webm") return undefined;
  const body = findElement(bytes, whole, segment);
  const list = body && findElement(bytes, body, tracks);
  if (!list) return undefined;
  const kinds = new Set<number | undefined>();
  for (const entry of iterateElements(bytes, list.from, list.to)) {
    const kind = entry.id === trackEntry ? findElement(bytes, entry, trackType) : undefined;
    if (kind) kinds.add(bytes[kind.from]);
  }
  if (kinds.has(videoTrack)) return "video/webm";
  return kinds.has(audioTrack) ? "audio/webm" : undefined;
};
