import { env } from "cloudflare:workers";
import { deflateSync } from "node:zlib";
import { makePng, pngChunk } from "./pictures.ts";

/** Pictures with the metadata of cameras and programs: location, time, author and orientation. */

const ascii = (text: string): Buffer => Buffer.from(text, "latin1");
const uint16 = (value: number): Buffer => Buffer.from([value & 0xff, value >> 8]);
const uint32 = (value: number): Buffer => Buffer.concat([uint16(value & 0xffff), uint16(value >>> 16)]);

/** Strings that must not occur in a served picture. */
export const metadataTraces = ["Kinshasa", "GPS-here", "secret", "adobe", "Photoshop", "<script", "thumbnail"];

const entry = (tag: number, type: number, count: number, value: Buffer): Buffer =>
  Buffer.concat([uint16(tag), uint16(type), uint32(count), value]);

/** TIFF block, little-endian: name of a location, orientation, and a GPS directory with a latitude. */
const makeTiff = (orientation: number): Buffer => {
  const directoryAt = 8;
  const gpsAt = directoryAt + 2 + 3 * 12 + 4;
  const dataAt = gpsAt + 2 + 2 * 12 + 4;
  const placeName = ascii("Kinshasa\0");
  const latitude = Buffer.concat([4, 1, 19, 1, 2, 1].map(uint32));
  return Buffer.concat([
    ascii("II"),
    uint16(42),
    uint32(directoryAt),
    uint16(3),
    entry(0x010e, 2, placeName.length, uint32(dataAt)),
    entry(0x0112, 3, 1, uint32(orientation)),
    entry(0x8825, 4, 1, uint32(gpsAt)),
    uint32(0),
    uint16(2),
    entry(1, 2, 2, ascii("S\0\0\0")),
    entry(2, 5, 3, uint32(dataAt + placeName.length)),
    uint32(0),
    placeName,
    latitude,
    ascii("GPS-here"),
  ]);
};

/** TIFF block that contains only an orientation, as it is in served pictures. */
export const makeOrientationTiff = (orientation: number): Buffer =>
  Buffer.from(`4d4d002a000000080001011200030000000100${orientation.toString(16).padStart(2, "0")}000000000000`, "hex");

const xmp = ascii('<x:xmpmeta xmlns:x="adobe:ns:meta/">secret</x:xmpmeta>');
const behind = ascii("<script>alert(1)</script>PK\x03\x04");

export const encodePicture = async (
  format: "image/jpeg" | "image/webp",
  width: number,
  height: number,
): Promise<Buffer> => {
  const stream = new Response(makePng(width, height)).body as ReadableStream<Uint8Array>;
  const output = await env.IMAGES.input(stream).output({ format });
  return Buffer.from(await output.response().arrayBuffer());
};

const segment = (marker: number, data: Buffer): Buffer => {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(data.length + 2);
  return Buffer.concat([Buffer.from([0xff, marker]), length, data]);
};

/**
 * JPEG with Exif, XMP, Photoshop, a second picture, a thumbnail and a comment before the picture, and a page after it.
 */
export const makeTracedJpeg = async (orientation: number): Promise<Buffer> => {
  const jpeg = await encodePicture("image/jpeg", 64, 32);
  return Buffer.concat([
    jpeg.subarray(0, 2),
    segment(0xe1, Buffer.concat([ascii("Exif\0\0"), makeTiff(orientation)])),
    segment(0xe1, Buffer.concat([ascii("http://ns.adobe.com/xap/1.0/\0"), xmp])),
    segment(0xe2, ascii("MPF\0secret second picture")),
    segment(0xed, ascii("Photoshop 3.0\x008BIMsecret")),
    segment(0xe0, ascii("JFXX\0\x10thumbnail")),
    segment(0xfe, ascii("<script>secret</script>")),
    jpeg.subarray(2),
    behind,
  ]);
};

const pngSignatureAndHeader = 33;

export const makeTracedPng = (orientation: number): Buffer => {
  const png = Buffer.from(makePng(64, 32));
  return Buffer.concat([
    png.subarray(0, pngSignatureAndHeader),
    pngChunk("eXIf", makeTiff(orientation)),
    pngChunk("zTXt", Buffer.concat([ascii("Comment\0\0"), deflateSync(ascii("secret"))])),
    pngChunk("iTXt", Buffer.concat([ascii("XML:com.adobe.xmp\0\0\0\0\0"), xmp])),
    pngChunk("tIME", Buffer.from([7, 234, 11, 21, 12, 0, 0])),
    pngChunk("prVt", ascii("secret")),
    png.subarray(pngSignatureAndHeader),
    behind,
  ]);
};

const riffChunk = (type: string, data: Buffer): Buffer =>
  Buffer.concat([ascii(type), uint32(data.length), data, Buffer.alloc(data.length % 2)]);

export const makeRiff = (...chunks: Buffer[]): Buffer => {
  const body = Buffer.concat([ascii("WEBP"), ...chunks]);
  return Buffer.concat([ascii("RIFF"), uint32(body.length), body]);
};

const uint24 = (value: number): Buffer => uint32(value).subarray(0, 3);

/** Extended WebP header with the flags of Exif and XMP set. */
export const makeWebpHeader = (width: number, height: number): Buffer =>
  riffChunk("VP8X", Buffer.concat([Buffer.from([0x0c, 0, 0, 0]), uint24(width - 1), uint24(height - 1)]));

/** The only chunk of a simple WebP. */
export const makeWebpPicture = async (width: number, height: number): Promise<Buffer> =>
  (await encodePicture("image/webp", width, height)).subarray(12);

export const makeTracedWebp = async (orientation: number): Promise<Buffer> =>
  Buffer.concat([
    makeRiff(
      makeWebpHeader(64, 32),
      await makeWebpPicture(64, 32),
      riffChunk("EXIF", makeTiff(orientation)),
      riffChunk("XMP ", xmp),
      riffChunk("JUNK", ascii("secret")),
    ),
    behind,
  ]);

const subBlocks = (data: Buffer): Buffer => Buffer.concat([Buffer.from([data.length]), data, Buffer.from([0])]);
const gifFrame = "2c00000000010001000002024401003b";

/** GIF of one pixel that loops twice, with a comment, a plain text extension and XMP. */
export const makeTracedGif = (): Buffer =>
  Buffer.concat([
    ascii("GIF89a"),
    Buffer.from("01000100800000000000ffffff", "hex"),
    Buffer.concat([Buffer.from([0x21, 0xff, 11]), ascii("NETSCAPE2.0"), Buffer.from([3, 1, 2, 0, 0])]),
    Buffer.concat([Buffer.from([0x21, 0xff, 11]), ascii("XMP DataXMP"), subBlocks(xmp)]),
    Buffer.concat([Buffer.from([0x21, 0xfe]), subBlocks(ascii("<script>secret"))]),
    Buffer.concat([Buffer.from([0x21, 0x01, 12]), Buffer.alloc(12), subBlocks(ascii("secret"))]),
    Buffer.from("21f9040100000000", "hex"),
    Buffer.from(gifFrame, "hex"),
    behind,
  ]);
