import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { readImageHeader } from "../../worker/lib/image-header";
import { makePng } from "./pictures";
import { newPerson } from "./site";
import {
  encode,
  makeTracedGif,
  makeTracedJpeg,
  makeTracedPng,
  makeTracedWebp,
  plainTiff,
  riff,
  traces,
  webpHeader,
  webpPicture,
} from "./traces";
import { storedFile, upload } from "./uploads";

const found = (bytes: Buffer): string[] => traces.filter((trace) => bytes.includes(trace));

/** The picture's pixels, as a decoder that knows nothing of us reads them. */
const pixels = async (bytes: Uint8Array): Promise<Buffer> => {
  const stream = new Response(bytes).body as ReadableStream<Uint8Array>;
  const output = await env.IMAGES.input(stream).output({ format: "image/png" });
  return Buffer.from(await output.response().arrayBuffer());
};

const passOn = async (picture: Uint8Array) => {
  const state = await upload(await newPerson(), picture, "photo.bin");
  const bytes = (await storedFile(state.id))?.bytes ?? Buffer.alloc(0);
  return { state, bytes };
};

const pictures: [string, (orientation: number) => Promise<Buffer> | Buffer, { width: number; height: number }][] = [
  ["jpeg", makeTracedJpeg, { width: 32, height: 64 }],
  ["png", makeTracedPng, { width: 32, height: 64 }],
  // Browsers draw it as it is, whatever it says.
  ["webp", makeTracedWebp, { width: 64, height: 32 }],
];

test.each(pictures)(
  "a %s says no longer where it was taken, and still how it is to be turned",
  async (type, make, seen) => {
    const picture = await make(6);
    expect(found(picture).length).toBeGreaterThan(3);
    const { state, bytes } = await passOn(picture);
    expect(state.ready).toEqual({ type: `image/${type}`, ...seen });
    expect(state.size).toBe(bytes.length);
    expect(found(bytes)).toEqual([]);
    expect(bytes.includes(plainTiff(6))).toBe(true);
    expect(readImageHeader(bytes)).toEqual({ type, width: 64, height: 32 });
    expect((await pixels(bytes)).equals(await pixels(picture))).toBe(true);
  },
);

test.each(pictures)("a %s that stands upright says nothing of itself", async (type, make) => {
  const { state, bytes } = await passOn(await make(1));
  expect(state.ready).toEqual({ type: `image/${type}`, width: 64, height: 32 });
  for (const mark of ["Exif", "eXIf", "EXIF", "XMP "]) expect(bytes.includes(mark)).toBe(false);
  if (type === "webp") expect(bytes[20]).toBe(0); // no flag for what is not there
  await pixels(bytes);
});

test("a GIF keeps its frames and its rounds, and loses what was written into it", async () => {
  const picture = makeTracedGif();
  expect(found(picture).length).toBeGreaterThan(1);
  const { state, bytes } = await passOn(picture);
  expect(state.ready).toEqual({ type: "image/gif", width: 1, height: 1 });
  expect(found(bytes)).toEqual([]);
  expect(bytes.includes("NETSCAPE2.0")).toBe(true);
  expect(bytes.subarray(-1).toString("hex")).toBe("3b");
  await pixels(bytes);
});

test("a picture without metadata is stored as it came", async () => {
  for (const picture of [Buffer.from(makePng(20, 20, "")), await encode("image/webp", 20, 20)]) {
    const clean = (await passOn(picture)).bytes;
    expect((await passOn(clean)).bytes.equals(clean)).toBe(true);
  }
});

const cut = (picture: Buffer, by: number): Buffer => picture.subarray(0, picture.length - by);
const behindBytes = Buffer.from("<script>alert(1)</script>PK\x03\x04", "latin1").length;

test.each<[string, () => Promise<Buffer> | Buffer]>([
  ["a JPEG that ends too early", async () => cut(await makeTracedJpeg(1), behindBytes + 2)],
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
    async () => riff(webpHeader(10, 10), await webpPicture(200, 200)),
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
])("%s is no picture and only to be saved", async (_, make) => {
  const picture = await make();
  const { state, bytes } = await passOn(picture);
  expect(state.ready).toEqual({ type: "application/octet-stream", width: null, height: null });
  expect(bytes.equals(picture)).toBe(true);
});
