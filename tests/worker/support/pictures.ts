import { env } from "cloudflare:workers";
import { deflateSync } from "node:zlib";

/** Small pictures and hostile files, built byte by byte. */

const crcTable = Array.from({ length: 256 }, (_, n) => {
  let c = n;
  for (let bit = 0; bit < 8; bit++) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
  return c >>> 0;
});
const crc = (bytes: Uint8Array): number => {
  let c = 0xffffffff;
  for (const byte of bytes) c = (crcTable[(c ^ byte) & 0xff] ?? 0) ^ (c >>> 8);
  return (c ^ 0xffffffff) >>> 0;
};

export const pngChunk = (type: string, data: Uint8Array): Buffer => {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc(body));
  return Buffer.concat([length, body, sum]);
};

const pngHead = (width: number, height: number): Buffer => {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2, 0, 0, 0], 8); // 8 bits of red, green and blue
  return Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), pngChunk("IHDR", header)]);
};

/** Plum-coloured PNG with a text chunk that must be removed. */
export const makePng = (width: number, height: number, text = "Comment\0secret place"): Uint8Array<ArrayBuffer> => {
  const row = Buffer.concat([Buffer.from([0]), Buffer.from(Array.from({ length: width }, () => [134, 41, 95]).flat())]);
  const pixels = deflateSync(Buffer.concat(Array.from({ length: height }, () => row)));
  return new Uint8Array(
    Buffer.concat([
      pngHead(width, height),
      pngChunk("tEXt", Buffer.from(text, "latin1")),
      pngChunk("IDAT", pixels),
      pngChunk("IEND", Buffer.alloc(0)),
    ]),
  );
};

/** PNG that claims this size and contains no picture. */
export const makePngClaiming = (width: number, height: number): Uint8Array<ArrayBuffer> =>
  new Uint8Array(Buffer.concat([pngHead(width, height), pngChunk("IDAT", deflateSync(Buffer.alloc(64)))]));

/** JPEG with an EXIF segment that contains its location. */
export const makeJpegWithLocation = async (): Promise<Uint8Array<ArrayBuffer>> => {
  const stream = new Response(makePng(64, 64)).body as ReadableStream<Uint8Array>;
  const output = await env.IMAGES.input(stream).output({ format: "image/jpeg" });
  const jpeg = Buffer.from(await output.response().arrayBuffer());
  const exif = Buffer.from("Exif\0\0GPSLatitude -4.3224 GPSLongitude 15.3070 Kinshasa", "latin1");
  const length = Buffer.alloc(2);
  length.writeUInt16BE(exif.length + 2);
  return new Uint8Array(
    Buffer.concat([jpeg.subarray(0, 2), Buffer.from([0xff, 0xe1]), length, exif, jpeg.subarray(2)]),
  );
};
