import { expect, test } from "vitest";
import { countByteOperations } from "#tests/support/files/byte-operations.ts";
import { hostileFiles, manyPartedFiles } from "#tests/support/files/hostile-files.ts";
import { cleanImage, exceedsPixelLimit, hasImageSignature } from "#worker/files/formats/clean-image.ts";
import { blankHeifMetadata, hasHeifBrand } from "#worker/files/formats/heif.ts";
import { isIsoMedia } from "#worker/files/formats/mp4.ts";
import { blankMp4Metadata } from "#worker/files/formats/mp4-metadata.ts";
import { sniffType } from "#worker/files/formats/sniff.ts";
import { isEbml } from "#worker/files/formats/webm.ts";
import { blankWebmMetadata } from "#worker/files/formats/webm-metadata.ts";

/** Work and memory that the parsers of uploaded files need, counted and not timed. */

const partBytes = 128 * 1024;

async function* readParts(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, void> {
  for (let at = 0; at < bytes.length; at += partBytes) yield bytes.slice(at, at + partBytes);
}

/** Slices of a file that is held in memory, or the largest chunk of one that is streamed. Undefined if it is refused. */
type Parsed = { slices: readonly Uint8Array[] } | { largestChunk: number } | undefined;

/** Parses a file as the completion of its upload does. */
const parse = async (bytes: Uint8Array): Promise<Parsed> => {
  const firstPart = bytes.slice(0, partBytes);
  exceedsPixelLimit(firstPart);
  if (hasImageSignature(firstPart)) {
    const image = cleanImage(bytes);
    return typeof image === "object" ? image : undefined;
  }
  if (hasHeifBrand(firstPart)) return blankHeifMetadata(bytes) ? { slices: [bytes] } : undefined;
  sniffType(firstPart);
  const blank = isIsoMedia(firstPart) ? blankMp4Metadata : isEbml(firstPart) ? blankWebmMetadata : undefined;
  let largestChunk = 0;
  for await (const { buffer } of blank?.(readParts(bytes)) ?? readParts(bytes))
    largestChunk = Math.max(largestChunk, buffer.byteLength);
  return { largestChunk };
};

const fileBytes = 4 * 1024 * 1024;
const slicesMax = 6; // headers, orientation, the kept parts and the end
/** A part with the start of a track that continues in it. */
const chunkMax = partBytes + 8_192;
/**
 * Views of a file's bytes that are created at most: some for each element that its work budget allows, or for the boxes
 * in the first part of a film and the starts of its first hundred tracks.
 */
const viewsMax = 60_000 + fileBytes / 16;

test.each(hostileFiles)("$name: work and memory stay proportional to the file", async ({ make }) => {
  const bytes = new Uint8Array(make(fileBytes));
  const { result, counted } = await countByteOperations(() => parse(bytes));
  expect(counted.calls).toBeLessThan(bytes.length);
  expect(counted.bytes).toBeLessThan(4 * bytes.length);
  expect(counted.views).toBeLessThan(viewsMax);
  if (result && "slices" in result) expect(result.slices.length).toBeLessThanOrEqual(slicesMax);
  if (result && "largestChunk" in result) expect(result.largestChunk).toBeLessThanOrEqual(chunkMax);
});

test.each(manyPartedFiles)("$name: an honest file of many parts is accepted", async ({ make }) => {
  expect(await parse(new Uint8Array(make(fileBytes)))).toBeDefined();
});
