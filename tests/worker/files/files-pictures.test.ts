import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { makeHostileFile } from "#tests/support/files/hostile-files.ts";
import {
  encodePicture,
  makeOrientationTiff,
  makeRiff,
  makeTracedGif,
  makeTracedJpeg,
  makeTracedPng,
  makeTracedWebp,
  makeWebpHeader,
  makeWebpPicture,
  metadataTraces,
} from "#tests/worker/support/metadata-pictures.ts";
import { makePng } from "#tests/worker/support/pictures.ts";
import { makePerson, site } from "#tests/worker/support/site.ts";
import { completeFile, listFileKeys, readStoredFile, uploadFile, uploadParts } from "#tests/worker/support/uploads.ts";
import { readImageHeader } from "#worker/lib/storage/image-header.ts";

const found = (bytes: Buffer): string[] => metadataTraces.filter((trace) => bytes.includes(trace));

/** Pixels of the picture, decoded by an independent decoder. */
const pixels = async (bytes: Uint8Array): Promise<Buffer> => {
  const stream = new Response(bytes).body as ReadableStream<Uint8Array>;
  const output = await env.IMAGES.input(stream).output({ format: "image/png" });
  return Buffer.from(await output.response().arrayBuffer());
};

const passOn = async (picture: Uint8Array) => {
  const state = await uploadFile(await makePerson(), picture, "photo.bin");
  const bytes = (await readStoredFile(state.id))?.bytes ?? Buffer.alloc(0);
  return { state, bytes };
};

const pictures: [string, (orientation: number) => Promise<Buffer> | Buffer, { width: number; height: number }][] = [
  ["jpeg", makeTracedJpeg, { width: 32, height: 64 }],
  ["png", makeTracedPng, { width: 32, height: 64 }],
  // Browsers draw it as it is, whatever its metadata says.
  ["webp", makeTracedWebp, { width: 64, height: 32 }],
];

test.each(pictures)("a %s loses its location and keeps its orientation", async (type, make, seen) => {
  const picture = await make(6);
  expect(found(picture).length).toBeGreaterThan(3);
  const { state, bytes } = await passOn(picture);
  expect(state.ready).toEqual({ type: `image/${type}`, ...seen });
  expect(state.size).toBe(bytes.length);
  expect(found(bytes)).toEqual([]);
  expect(bytes.includes(makeOrientationTiff(6))).toBe(true);
  expect(readImageHeader(bytes)).toEqual({ type, width: 64, height: 32 });
  expect((await pixels(bytes)).equals(await pixels(picture))).toBe(true);
});

test.each(pictures)("an upright %s has no orientation tag", async (type, make) => {
  const { state, bytes } = await passOn(await make(1));
  expect(state.ready).toEqual({ type: `image/${type}`, width: 64, height: 32 });
  for (const mark of ["Exif", "eXIf", "EXIF", "XMP "]) expect(bytes.includes(mark)).toBe(false);
  if (type === "webp") expect(bytes[20]).toBe(0); // no flag for missing chunks
  await pixels(bytes);
});

test("a GIF keeps its frames and loops, and loses its comments", async () => {
  const picture = makeTracedGif();
  expect(found(picture).length).toBeGreaterThan(1);
  const { state, bytes } = await passOn(picture);
  expect(state.ready).toEqual({ type: "image/gif", width: 1, height: 1 });
  expect(found(bytes)).toEqual([]);
  expect(bytes.includes("NETSCAPE2.0")).toBe(true);
  expect(bytes.subarray(-1).toString("hex")).toBe("3b");
  await pixels(bytes);
});

test("a picture without metadata is stored unchanged", async () => {
  for (const picture of [Buffer.from(makePng(20, 20, "")), await encodePicture("image/webp", 20, 20)]) {
    const clean = (await passOn(picture)).bytes;
    expect((await passOn(clean)).bytes.equals(clean)).toBe(true);
  }
});

const cut = (picture: Buffer, by: number): Buffer => picture.subarray(0, picture.length - by);
const behindBytes = Buffer.from("<script>alert(1)</script>PK\x03\x04", "latin1").length;

test.each<[string, () => Promise<Buffer> | Buffer]>([
  ["a JPEG that ends before its picture", async () => (await makeTracedJpeg(1)).subarray(0, 400)],
  [
    "a JPEG's first bytes and a page",
    () => Buffer.from(`\xff\xd8\xff\xe0${"<script>alert(1)</script>".repeat(9)}`, "latin1"),
  ],
  ["a PNG that ends too early", () => cut(makeTracedPng(1), behindBytes + 4)],
  [
    "a PNG with a wrong checksum",
    () => {
      const png = Buffer.from(makePng(30, 30));
      const data = png.indexOf("IDAT") + 6;
      png[data] = (png[data] ?? 0) ^ 0xff;
      return png;
    },
  ],
  ["a WebP that ends too early", async () => cut(await makeTracedWebp(1), behindBytes + 2)],
  [
    "a WebP whose picture is larger than its header says",
    async () => makeRiff(makeWebpHeader(10, 10), await makeWebpPicture(200, 200)),
  ],
  ["a GIF that ends too early", () => cut(makeTracedGif(), behindBytes + 1)],
  [
    "a GIF whose frame is larger than its header says",
    () => {
      const gif = makeTracedGif();
      gif.writeUInt16LE(50_000, gif.lastIndexOf(Buffer.from("2c0000000001", "hex")) + 5);
      return gif;
    },
  ],
  ["a JPEG of more segments than its size justifies", () => makeHostileFile("JPEG: empty comments", 100_000)],
  ["a PNG of more chunks than its size justifies", () => makeHostileFile("PNG: empty texts", 200_000)],
  ["a WebP of more chunks than its size justifies", () => makeHostileFile("WebP: empty unknown chunks", 200_000)],
  ["a GIF of more blocks than its size justifies", () => makeHostileFile("GIF: frames without data", 200_000)],
])("%s is refused permanently, and nothing of it is stored", async (_, make) => {
  const ana = await makePerson();
  const id = await uploadParts(ana, await make());
  expect(await completeFile(ana, id)).toMatchObject({ status: 415, body: { error_code: "broken_image" } });
  expect(await completeFile(ana, id)).toMatchObject({ status: 404, body: { error_code: "file_not_found" } });
  expect(await readStoredFile(id)).toBeUndefined();
  expect((await listFileKeys("parts/")).filter((key) => key.includes(id))).toEqual([]);
});

/** JPEG with these bytes inserted before its marker of that kind. */
const putBefore = (jpeg: Buffer, marker: number, bytes: Uint8Array): Buffer => {
  const at = jpeg.indexOf(Buffer.from([0xff, marker]));
  return Buffer.concat([jpeg.subarray(0, at), bytes, jpeg.subarray(at)]);
};

test.each<[string, (jpeg: Buffer) => Buffer]>([
  ["cut by two bytes", (jpeg) => cut(jpeg, behindBytes + 2)],
  ["cut in the middle of its scan", (jpeg) => jpeg.subarray(0, jpeg.indexOf(Buffer.from([0xff, 0xda])) + 40)],
  ["with a lone TEM marker", (jpeg) => putBefore(jpeg, 0xdb, Uint8Array.of(0xff, 0x01))],
  ["with a restart marker before its tables", (jpeg) => putBefore(jpeg, 0xdb, Uint8Array.of(0xff, 0xd0))],
])("a JPEG %s is rendered as before, and loses its location", async (_, change) => {
  const picture = change(await makeTracedJpeg(6));
  const { state, bytes } = await passOn(picture);
  expect(state.ready).toEqual({ type: "image/jpeg", width: 32, height: 64 });
  expect(found(bytes)).toEqual([]);
  expect(bytes.subarray(-2).toString("hex")).toBe("ffd9");
  await pixels(bytes);
});

test("markers before a JPEG's frame header do not hide an excessive size", async () => {
  const jpeg = await makeTracedJpeg(1);
  const hidden = putBefore(jpeg, 0xc0, Uint8Array.of(0xff, 0xd0));
  hidden.writeUInt16BE(16_000, hidden.indexOf(Buffer.from([0xff, 0xc0])) + 5);
  hidden.writeUInt16BE(16_000, hidden.indexOf(Buffer.from([0xff, 0xc0])) + 7);
  expect(readImageHeader(hidden)).toEqual({ type: "jpeg", width: 16_000, height: 16_000 });
  const ana = await makePerson();
  const id = await uploadParts(ana, hidden);
  expect(await completeFile(ana, id)).toMatchObject({ status: 400, body: { error_code: "image_too_many_pixels" } });
  expect((await completeFile(ana, id)).status).toBe(404);
  const avatar = await site.fetch(`${site.origin}/api/profile/avatar`, {
    method: "PUT",
    headers: { authorization: `Bearer ${ana.token}`, "content-type": "image/jpeg" },
    body: new Uint8Array(hidden),
  });
  expect([avatar.status, ((await avatar.json()) as { error_code: string }).error_code]).toEqual([
    400,
    "image_too_many_pixels",
  ]);
});
