import { toDataView } from "#worker/lib/storage/bytes.ts";
import { blankElements, type ReadElement } from "./blank-elements.ts";
import { readTrackHandler } from "./mp4.ts";

/**
 * Blanks the metadata of a video (ISO/IEC 14496-12 §8.10, where phones store the location) and the tracks that only
 * describe it, such as the path of an action camera, while it is streamed. The boxes become free space of the same
 * size, so that all offsets in the file stay valid. The samples of such a track stay among the others, where nothing
 * finds them without the track.
 */

/** Box type as the number of its four characters, because a video may have millions of boxes. */
const toFourCc = (type: string): number => toDataView(new TextEncoder().encode(type)).getUint32(0);
const trackType = toFourCc("trak");
const containers = new Set(["moov", "trak", "moof", "traf"].map(toFourCc));
const metadataBoxes = new Set(["udta", "meta", "uuid"].map(toFourCc));
const shortHeaderBytes = 8;
const longHeaderBytes = 16;
const free = new TextEncoder().encode("free");

/** Handlers of tracks that players show: pictures, sound, texts (ISO/IEC 14496-12 §12, QuickTime), time codes. */
const playedHandlers = new Set([
  "vide",
  "auxv",
  "pict",
  "soun",
  "text",
  "sbtl",
  "subt",
  "subp",
  "clcp",
  "tmcd",
  "hint",
]);
/** Bytes of a track that are looked through for its handler, which stands behind a few small boxes. */
const trackStartBytes = 4_096;
/** Tracks of a file that are looked at, many more than any film has. */
const tracksMax = 100;

const readUint32 = (bytes: Uint8Array, at: number): number =>
  (bytes[at] ?? 0) * 0x1000000 + (((bytes[at + 1] ?? 0) << 16) | ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0));

/** Sizes of a box's header and content. A box without a size, or with an invalid one, extends to the end. */
const readBoxHeader = (bytes: Uint8Array, at: number): { header: number; content: number } => {
  const stated = readUint32(bytes, at);
  const isLong = stated === 1;
  const header = isLong ? longHeaderBytes : shortHeaderBytes;
  const size = isLong ? readUint32(bytes, at + 8) * 2 ** 32 + readUint32(bytes, at + 12) : stated;
  return { header, content: size < header ? Number.POSITIVE_INFINITY : size - header };
};

/** Tests whether a track says that it is of a kind that is not played: timed metadata. */
const isMetadataTrack = (bytes: Uint8Array, from: number, to: number): boolean => {
  const handler = readTrackHandler(bytes, { from, to: Math.min(to, from + trackStartBytes, bytes.length) });
  return handler !== undefined && handler.length === 4 && !playedHandlers.has(handler);
};

/** Reader of the boxes of one file. */
const createBoxReader = (): ReadElement => {
  let trackCount = 0;
  return (bytes, at, isLast) => {
    const available = bytes.length - at;
    if (available < longHeaderBytes) return undefined;
    const type = readUint32(bytes, at + 4);
    const { header, content } = readBoxHeader(bytes, at);
    let isBlank = metadataBoxes.has(type);
    if (type === trackType && trackCount < tracksMax) {
      if (available < Math.min(header + content, trackStartBytes) && !isLast) return undefined;
      trackCount++;
      isBlank = isMetadataTrack(bytes, at + header, at + header + content);
    }
    if (isBlank) bytes.set(free, at + 4);
    return { headerBytes: header, contentBytes: containers.has(type) && !isBlank ? 0 : content, isBlank };
  };
};

export const blankMp4Metadata = (chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, void> =>
  blankElements(chunks, createBoxReader());
