// Browsers write WebM while recording and therefore cannot store its duration in the header; without it players offer
// no seeking. This module inserts it. EBML: RFC 8794; elements: RFC 9559 (Matroska) §5.1.

const headerBytes = 4_096; // far more than a recorder writes before the first audio data
const elementIds = { ebml: 0x1a45dfa3, segment: 0x18538067, info: 0x1549a966, seekHead: 0x114d9b74 } as const;
const infoIds = { duration: 0x4489, timestampScale: 0x2ad7b1 } as const;
const msInNs = 1_000_000;

type EbmlElement = { id: number; size: number | undefined; start: number; content: number };

/**
 * Reads a variable-length integer at `at` and returns its value and its length in bytes; an id keeps its length marker.
 */
const readVint = (bytes: Uint8Array, at: number, keepsMark: boolean): { value: number; length: number } | undefined => {
  const first = bytes[at];
  if (!first) return undefined;
  const length = Math.clz32(first) - 23;
  if (at + length > bytes.length) return undefined;
  let value = keepsMark ? first : first & (0xff >> length);
  for (let i = 1; i < length; i++) value = value * 256 + (bytes[at + i] ?? 0);
  return { value, length };
};

const readElement = (bytes: Uint8Array, start: number): EbmlElement | undefined => {
  const id = readVint(bytes, start, true);
  const size = id && readVint(bytes, start + id.length, false);
  if (!size) return undefined;
  const isUnknown = size.value >= 2 ** (7 * size.length) - 1;
  return { id: id.value, size: isUnknown ? undefined : size.value, start, content: start + id.length + size.length };
};

/** Consecutive complete elements between `from` and `to`. */
const readElements = (bytes: Uint8Array, from: number, to: number): EbmlElement[] => {
  const elements: EbmlElement[] = [];
  for (let at = from; at < to; ) {
    const element = readElement(bytes, at);
    if (!element || element.size === undefined || element.content + element.size > to) break;
    elements.push(element);
    at = element.content + element.size;
  }
  return elements;
};

const readUnsigned = (bytes: Uint8Array, { content, size = 0 }: EbmlElement): number =>
  bytes.subarray(content, content + size).reduce((value, byte) => value * 256 + byte, 0);

/**
 * Header of a live WebM with the duration inserted; undefined if the file is not a live WebM or already has a duration.
 */
const insertDuration = (bytes: Uint8Array, ms: number): { head: Uint8Array; from: number } | undefined => {
  const ebml = readElement(bytes, 0);
  if (ebml?.id !== elementIds.ebml || ebml.size === undefined) return undefined;
  const segment = readElement(bytes, ebml.content + ebml.size);
  // Inserting bytes would break a segment of known size or with a seek index.
  if (segment?.id !== elementIds.segment || segment.size !== undefined) return undefined;
  const elements = readElements(bytes, segment.content, bytes.length);
  const info = elements.find(({ id }) => id === elementIds.info);
  if (info?.size === undefined || elements.some(({ id }) => id === elementIds.seekHead)) return undefined;
  const end = info.content + info.size;
  const infoFields = readElements(bytes, info.content, end);
  if (infoFields.some(({ id }) => id === infoIds.duration)) return undefined;
  const scale = infoFields.find(({ id }) => id === infoIds.timestampScale);
  const scaleNs = (scale && readUnsigned(bytes, scale)) || msInNs;

  const duration = new Uint8Array(11);
  duration.set([0x44, 0x89, 0x88]);
  new DataView(duration.buffer).setFloat64(3, (ms * msInNs) / scaleNs);
  const start = new Uint8Array(12); // id and a size of eight bytes
  const view = new DataView(start.buffer);
  view.setUint32(0, elementIds.info);
  view.setUint32(4, 0x01000000);
  view.setUint32(8, info.size + duration.length);
  const head = new Uint8Array(info.start + start.length + info.size + duration.length);
  head.set(bytes.subarray(0, info.start));
  head.set(start, info.start);
  head.set(bytes.subarray(info.content, end), info.start + start.length);
  head.set(duration, info.start + start.length + info.size);
  return { head, from: end };
};

/**
 * Recording with its duration in the header, so that players can seek. Anything but a live WebM is returned unchanged.
 */
export const addWebmDuration = async (recording: Blob, ms: number): Promise<Blob> => {
  const bytes = new Uint8Array(await recording.slice(0, headerBytes).arrayBuffer());
  const inserted = insertDuration(bytes, ms);
  if (!inserted) return recording;
  return new Blob([inserted.head as BlobPart, recording.slice(inserted.from)], { type: recording.type });
};
