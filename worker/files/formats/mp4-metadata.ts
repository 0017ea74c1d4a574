import { toDataView } from "#worker/lib/storage/bytes.ts";

/**
 * Blanks the metadata of a video (ISO/IEC 14496-12 §8.10, where phones store the location) while it is streamed. The
 * boxes become free space of the same size, so that all offsets in the file stay valid.
 */

/** Box type as the number of its four characters, because a video may have millions of boxes. */
const toFourCc = (type: string): number => toDataView(new TextEncoder().encode(type)).getUint32(0);
const containers = new Set(["moov", "trak", "moof", "traf"].map(toFourCc));
const metadataBoxes = new Set(["udta", "meta", "uuid"].map(toFourCc));
const shortHeaderBytes = 8;
const longHeaderBytes = 16;
const free = new TextEncoder().encode("free");

/** Sizes of a box's header and content. A box without a size, or with an invalid one, extends to the end. */
const readBoxHeader = (view: DataView, at: number): { header: number; content: number } => {
  const stated = view.getUint32(at);
  const isLong = stated === 1;
  const header = isLong ? longHeaderBytes : shortHeaderBytes;
  const size = isLong ? Number(view.getBigUint64(at + shortHeaderBytes)) : stated;
  return { header, content: size < header ? Number.POSITIVE_INFINITY : size - header };
};

const concat = (first: Uint8Array, second: Uint8Array): Uint8Array => {
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
};

export async function* blankMp4Metadata(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, void> {
  let pending = new Uint8Array(0); // start of a header that continues in the next chunk
  let remaining = 0; // remaining bytes of the current box
  let isBlank = false;
  for await (const chunk of chunks) {
    const bytes = concat(pending, chunk);
    const view = toDataView(bytes);
    let at = 0;
    while (at < bytes.length) {
      if (remaining > 0) {
        const end = Math.min(bytes.length, at + remaining);
        if (isBlank) bytes.fill(0, at, end);
        remaining -= end - at;
        at = end;
        continue;
      }
      if (bytes.length - at < longHeaderBytes) break;
      const type = view.getUint32(at + 4);
      const { header, content } = readBoxHeader(view, at);
      isBlank = metadataBoxes.has(type);
      if (isBlank) bytes.set(free, at + 4);
      remaining = containers.has(type) ? 0 : content;
      at += header;
    }
    pending = bytes.slice(at);
    if (at > 0) yield bytes.subarray(0, at);
  }
  if (pending.length > 0) yield pending;
}
