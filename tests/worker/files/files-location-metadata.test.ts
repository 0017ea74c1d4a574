import { expect, test } from "vitest";
import { filePartBytes } from "#contract/limits/files.ts";
import { makeHostileFile } from "#tests/support/files/hostile-files.ts";
import {
  ebmlIds,
  element,
  endlessElement,
  makeBlocks,
  makeEbmlHeader,
  makeTags,
  makeTracks,
} from "#tests/support/people/ebml-elements.ts";
import { ascii, box, makeHeic, photoLocation, trak, uint32 } from "#tests/support/people/iso-boxes.ts";
import { makePerson } from "#tests/worker/support/site.ts";
import {
  completeFile,
  listFileKeys,
  makeRandomBytes,
  readStoredFile,
  uploadFile,
  uploadParts,
} from "#tests/worker/support/uploads.ts";

/** Location metadata of photos and videos, in file types that phones create and browsers do not display. */

const makeLocationBox = () => box("udta", box("\xa9xyz", ascii(photoLocation)), box("loci", ascii(photoLocation)));
const film = (...first: Buffer[]) =>
  Buffer.concat([
    ...first,
    box("mdat", ascii("moving pictures")),
    box(
      "moov",
      makeLocationBox(),
      trak("vide", makeLocationBox()),
      box("meta", ascii(`com.apple.quicktime.location.ISO6709 ${photoLocation}`)),
    ),
  ]);
const brand = (name: string) => box("ftyp", ascii(name), uint32(0), ascii(name));

/** Uploads a file that tells a location. Checks that the stored one does not, and is as long. */
const expectWithoutLocation = async (bytes: Buffer, name: string, type: string): Promise<Buffer> => {
  expect(bytes.includes(photoLocation)).toBe(true);
  const state = await uploadFile(await makePerson(), bytes, name);
  expect(state).toMatchObject({ size: bytes.length, ready: { type } });
  const stored = (await readStoredFile(state.id))?.bytes ?? Buffer.alloc(0);
  expect(stored.length).toBe(bytes.length);
  expect(stored.includes(photoLocation)).toBe(false);
  for (const content of ["moving pictures", "the picture"])
    expect(stored.indexOf(content)).toBe(bytes.indexOf(content));
  return stored;
};

/** End of the `Void` element at a place. */
const readVoidEnd = (bytes: Buffer, at: number): number => {
  const width = Math.clz32(bytes[at + 1] ?? 0) - 23;
  const size = bytes.subarray(at + 1, at + 1 + width);
  size[0] = (size[0] ?? 0) & (0xff >> width);
  return at + 1 + width + [...size].reduce((sum, byte) => sum * 256 + byte, 0);
};

test.each<[string, Buffer, string]>([
  ["an iPhone's photo", makeHeic(), "the picture"],
  ["a photo in AVIF", makeHeic("avif"), "the picture"],
  [
    "a large photo",
    makeHeic("heix", Buffer.concat([ascii("the picture"), Buffer.from(makeRandomBytes(300_000))])),
    "the picture",
  ],
  ["a sequence of photos", film(brand("hevc")), "moving pictures"],
  ["a 3GP film", film(brand("3gp5")), "moving pictures"],
  ["a film of an iPhone", film(brand("qt  ")), "moving pictures"],
  ["a QuickTime film without a brand", film(box("wide")), "moving pictures"],
])("%s loses its location, and its other bytes keep their offsets", async (_, bytes, content) => {
  expect(bytes.includes(photoLocation)).toBe(true);
  const state = await uploadFile(await makePerson(), bytes, "IMG_0001.HEIC");
  expect(state).toMatchObject({ size: bytes.length, ready: { type: "application/octet-stream" } });
  const stored = (await readStoredFile(state.id))?.bytes ?? Buffer.alloc(0);
  expect(stored.length).toBe(bytes.length);
  expect(stored.includes(photoLocation)).toBe(false);
  expect(stored.indexOf(content)).toBe(bytes.indexOf(content));
});

/** Photo with this part replaced. */
const altered = (find: string, put: Buffer, after = 0): Buffer => {
  const bytes = Buffer.from(makeHeic());
  bytes.set(put, bytes.indexOf(find) + after);
  return bytes;
};

test.each<[string, Buffer]>([
  ["without a list of what is in it", altered("iinf", ascii("free"))],
  ["that does not say where anything stands", altered("iloc", ascii("free"))],
  ["whose boxes end beyond the file", makeHeic().subarray(0, 200)],
  ["in a version nobody knows", altered("iloc", Buffer.from([9]), 4)],
  ["with two lists of what is in it", makeHostileFile("HEIF: item lists that all name the same range", 600)],
  ["of more boxes than its size justifies", makeHostileFile("HEIF: empty boxes", 100_000)],
])("a photo %s is refused permanently, because its metadata cannot be checked", async (_, bytes) => {
  const ana = await makePerson();
  const id = await uploadParts(ana, bytes);
  expect(await completeFile(ana, id)).toMatchObject({ status: 415, body: { error_code: "broken_image" } });
  expect((await completeFile(ana, id)).status).toBe(404);
  expect((await listFileKeys("parts/")).filter((key) => key.includes(id))).toEqual([]);
});

const { segment, cluster, cues, attachments } = ebmlIds;
const voidId = 0xec;
const location = (sizeBytes?: number) => makeTags("LOCATION", photoLocation, sizeBytes);
const moving = makeBlocks(ascii("moving pictures"));
/** A film of several parts, whose tags begin in one part and end in the next. */
const longFilm = (): Buffer => {
  const start = Buffer.concat([makeEbmlHeader("webm"), endlessElement(segment, makeTracks(1, 2))]);
  const block = Buffer.from(makeRandomBytes(filePartBytes - start.length - 40));
  return Buffer.concat([start, endlessElement(cluster, makeBlocks(block)), location(8), element(cues, ascii("cues"))]);
};

test.each<[string, Buffer, string]>([
  [
    "that tells it before its pictures",
    element(segment, Buffer.concat([makeTracks(1), location(), element(cluster, moving, 2)]), 8),
    "video/webm",
  ],
  [
    "that tells it behind its pictures",
    element(segment, Buffer.concat([makeTracks(1), element(cluster, moving, 8), location(4)]), 8),
    "video/webm",
  ],
  [
    "of a live recording, whose parts do not say how long they are",
    endlessElement(
      segment,
      makeTracks(1),
      endlessElement(cluster, moving),
      location(2),
      endlessElement(cluster, moving),
    ),
    "video/webm",
  ],
  ["that tells it twice", endlessElement(segment, makeTracks(2), location(6), location(7)), "audio/webm"],
  [
    "with a picture attached that tells it",
    endlessElement(segment, makeTracks(1), element(attachments, ascii(`Exif GPS ${photoLocation}`), 8)),
    "video/webm",
  ],
  [
    "whose tags do not say how long they are",
    endlessElement(segment, makeTracks(1), endlessElement("1254c367", ascii(photoLocation))),
    "video/webm",
  ],
])("a WebM film %s loses its location, and its other bytes keep their offsets", async (_, body, type) => {
  const bytes = Buffer.concat([makeEbmlHeader("webm"), body]);
  await expectWithoutLocation(bytes, "film.webm", type);
});

test("a WebM film of several segments, and a Matroska film, lose their location", async () => {
  const film = longFilm();
  const stored = await expectWithoutLocation(film, "film.webm", "video/webm");
  const from = film.length - location(8).length - 9;
  // One element of the same length that players skip, then the rest as it was.
  expect(from).toBeLessThan(filePartBytes);
  expect(stored.subarray(0, from).equals(film.subarray(0, from))).toBe(true);
  expect(stored[from]).toBe(voidId);
  expect(readVoidEnd(stored, from)).toBe(film.length - 9);
  expect(stored.subarray(-9).equals(element(cues, ascii("cues")))).toBe(true);
  const matroska = Buffer.concat([makeEbmlHeader("matroska"), endlessElement(segment, makeTracks(1), location())]);
  await expectWithoutLocation(matroska, "film.mkv", "application/octet-stream");
});

test.each(["meta", "camm", "mdta"])(
  "a metadata track of a film (%s) is disabled, and playable tracks remain",
  async (handler) => {
    const described = trak(handler, box("udta", ascii("how fast, how high")));
    const played = ["vide", "soun", "text", "sbtl"].map((name) => trak(name));
    for (const bytes of [
      Buffer.concat([brand("isom"), box("moov", ...played, described), box("mdat", ascii("moving pictures"))]),
      Buffer.concat([
        brand("isom"),
        box("mdat", Buffer.from(makeRandomBytes(filePartBytes - 60))),
        box("moov", described, ...played),
      ]),
    ]) {
      const state = await uploadFile(await makePerson(), bytes, "GX010001.MP4");
      expect(state).toMatchObject({ size: bytes.length, ready: { type: "video/mp4" } });
      const stored = (await readStoredFile(state.id))?.bytes ?? Buffer.alloc(0);
      const at = bytes.indexOf(described);
      const expected = Buffer.from(bytes);
      expected.fill(0, at + 8, at + described.length);
      expected.write("free", at + 4, "latin1");
      expect(stored.equals(expected)).toBe(true);
    }
  },
);

test("a track whose kind is not stated within its first 4 kB remains", async () => {
  const late = trak("meta");
  late.write("free", late.indexOf("tkhd"), "latin1");
  const hidden = box("trak", box("free", Buffer.alloc(5_000)), late.subarray(8));
  const bytes = Buffer.concat([
    brand("isom"),
    box("moov", trak("vide"), hidden),
    box("mdat", ascii("moving pictures")),
  ]);
  const { id } = await uploadFile(await makePerson(), bytes, "film.mp4");
  expect((await readStoredFile(id))?.bytes.equals(bytes)).toBe(true);
});
