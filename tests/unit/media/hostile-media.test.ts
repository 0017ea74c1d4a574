import { expect, it } from "vitest";
import {
  ebmlIds,
  endlessElement,
  makeBlocks,
  makeEbmlHeader,
  makeTags,
  makeTracks,
} from "#tests/support/people/ebml-elements.ts";
import { ascii, box, makeHeic, trak, uint16, uint32 } from "#tests/support/people/iso-boxes.ts";
import { cleanImage, exceedsPixelLimit, hasImageSignature } from "#worker/files/formats/clean-image.ts";
import { blankHeifMetadata } from "#worker/files/formats/heif.ts";
import { isIsoMedia } from "#worker/files/formats/mp4.ts";
import { blankMp4Metadata } from "#worker/files/formats/mp4-metadata.ts";
import { sniffType } from "#worker/files/formats/sniff.ts";
import { isEbml } from "#worker/files/formats/webm.ts";
import { blankWebmMetadata } from "#worker/files/formats/webm-metadata.ts";
import { readImageHeader } from "#worker/lib/storage/image-header.ts";

/** A small generator (mulberry32), so that failures can be repeated. */
const random = (seed: number) => () => {
  seed = (seed + 0x6d2b79f5) | 0;
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
};

const segment = (marker: number, data: Buffer) =>
  Buffer.concat([Buffer.from([0xff, marker]), uint16(data.length + 2), data]);
const jpeg = Buffer.concat([
  Buffer.from([0xff, 0xd8]),
  segment(0xe0, ascii("JFIF\0\x01\x02\0\0\x01\0\x01\0\0")),
  segment(0xe1, ascii("Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0")),
  segment(0xdb, Buffer.alloc(65)),
  segment(0xc0, Buffer.from([8, 0, 32, 0, 64, 1, 1, 0x11, 0])),
  segment(0xda, Buffer.from([1, 1, 0, 0, 63, 0])),
  ascii("\x01\x02\xff\x00\x03\xff\xd0\x04"),
  Buffer.from([0xff, 0xd9]),
]);
const gif = Buffer.concat([
  ascii("GIF89a\x02\0\x02\0\x80\0\0"),
  Buffer.alloc(6),
  ascii("!\xfe\x03abc\0,\0\0\0\0\x02\0\x02\0\0\x02\x02D\x01\0;"),
]);
const webp = Buffer.concat([
  ascii("RIFF"),
  Buffer.from([30, 0, 0, 0]),
  ascii("WEBPVP8L\x0a\0\0\0\x2f\x3f\xc0\x07\x10\0\0\0\0\0EXIF\0\0\0\0"),
]);
const film = Buffer.concat([
  box("ftyp", ascii("3gp5"), uint32(0)),
  box("moov", box("udta", ascii("here")), trak("vide")),
  box("mdat", Buffer.alloc(40)),
]);

const webm = Buffer.concat([
  makeEbmlHeader("webm"),
  endlessElement(
    ebmlIds.segment,
    makeTracks(1),
    endlessElement(ebmlIds.cluster, makeBlocks(ascii("pictures"))),
    makeTags("LOCATION", "here", 4),
    makeTags("LOCATION", "here", 8),
  ),
]);

/** Length of a file once metadata is blanked. */
const readAll = async (bytes: Uint8Array, partLength: number, blank = blankMp4Metadata): Promise<number> => {
  const parts = async function* () {
    for (let at = 0; at < bytes.length; at += partLength) yield bytes.subarray(at, at + partLength);
  };
  let length = 0;
  for await (const chunk of blank(parts())) length += chunk.length;
  return length;
};

/** Runs every parser of foreign bytes, which must not throw. */
const read = async (bytes: Uint8Array, partLength: number) => {
  expect(typeof sniffType(bytes)).toBe("string");
  expect(typeof isIsoMedia(bytes)).toBe("boolean");
  expect(typeof isEbml(bytes)).toBe("boolean");
  readImageHeader(bytes);
  exceedsPixelLimit(bytes);
  if (hasImageSignature(bytes)) cleanImage(bytes);
  expect(await readAll(bytes, partLength)).toBe(bytes.length);
  expect(await readAll(bytes, partLength, blankWebmMetadata)).toBe(bytes.length);
  blankHeifMetadata(Buffer.from(bytes));
};

it.each([
  ["a JPEG", jpeg],
  ["a GIF", gif],
  ["a WebP", webp],
  ["a film", film],
  ["a WebM film", webm],
  ["a photo of an iPhone", makeHeic()],
])("arbitrary bytes in %s are parsed to a result", async (name, whole) => {
  const next = random(name.length);
  for (let round = 0; round < 4_000; round++) {
    const bytes = Buffer.from(whole.subarray(0, next() < 0.3 ? Math.ceil(next() * whole.length) : whole.length));
    for (let change = 0; change < 1 + 4 * next(); change++) {
      const values = [0, 1, 0x7f, 0x80, 0xff, Math.floor(next() * 256)];
      bytes[Math.floor(next() * bytes.length)] = values[Math.floor(next() * values.length)] ?? 0;
    }
    await read(bytes, 1 + Math.floor(next() * 64));
  }
});

/** Header of a track that is said to reach to the end of the file, and a track of boxes without content. */
const trackHeader = Buffer.concat([uint32(25_000_000), ascii("trak")]);
const manyBoxes = Buffer.concat([uint32(4_096), ascii("trak"), Buffer.alloc(4_088, box("free"))]);

/** A file of maximum size whose content makes a parser take its longest path. */
it.each<[string, () => Buffer]>([
  ["fill bytes", () => Buffer.concat([Buffer.from([0xff, 0xd8]), Buffer.alloc(25_000_000, 0xff)])],
  [
    "restart marks",
    () => Buffer.concat([Buffer.from([0xff, 0xd8]), Buffer.alloc(25_000_000, Buffer.from([0xff, 0xd0]))]),
  ],
  [
    "empty segments",
    () => Buffer.concat([jpeg.subarray(0, 2), Buffer.alloc(25_000_000, Buffer.from([0xff, 0xfe, 0, 2]))]),
  ],
  ["empty boxes", () => Buffer.concat([film, Buffer.alloc(25_000_000, box("moov"))])],
  ["nested tracks", () => Buffer.concat([film, Buffer.alloc(25_000_000, trackHeader)])],
  ["tracks of many boxes", () => Buffer.concat([film, Buffer.alloc(25_000_000, manyBoxes)])],
  ["empty elements", () => Buffer.concat([webm, Buffer.alloc(25_000_000, Buffer.from([0xec, 0x80]))])],
  ["empty tags", () => Buffer.concat([webm, Buffer.alloc(25_000_000, Buffer.from("1254c36780", "hex"))])],
  ["endless clusters", () => Buffer.concat([webm, Buffer.alloc(25_000_000, Buffer.from("1f43b675ff", "hex"))])],
  [
    "items without number",
    () => {
      const list = Buffer.concat([Buffer.from([1, 0, 0, 0, 0, 0]), uint16(0xffff), Buffer.alloc(8_000_000, 0xff)]);
      const information = box("iinf", Buffer.alloc(4), uint16(0));
      return Buffer.concat([box("ftyp", ascii("heic")), box("meta", Buffer.alloc(4), information, box("iloc", list))]);
    },
  ],
  [
    "one item that stands everywhere, again and again",
    () => {
      const entry = box("infe", Buffer.from([2, 0, 0, 0]), uint16(1), uint16(0), ascii("Exif\0"));
      const extents = Buffer.alloc(8 * 0xffff, Buffer.concat([uint32(0), uint32(20_000_000)]));
      const item = Buffer.concat([uint16(1), uint16(0), uint16(0xffff), extents]);
      const locations = Buffer.concat([Buffer.from([0, 0, 0, 0, 0x44, 0]), uint16(1), item]);
      const meta = box("meta", Buffer.alloc(4), box("iinf", Buffer.alloc(4), uint16(1), entry), box("iloc", locations));
      return Buffer.concat([box("ftyp", ascii("heic")), meta, box("mdat", Buffer.alloc(20_000_000))]);
    },
  ],
])("%s are parsed in linear time", async (_, make) => {
  await read(make(), 131_072);
});
