import { crc32 } from "node:zlib";
import { ebmlIds, element, endlessElement, makeEbmlHeader, makeTracks } from "#tests/support/people/ebml-elements.ts";
import { ascii, box, makeHeic, trak, uint16, uint32 } from "#tests/support/people/iso-boxes.ts";

/** File that is made when it is needed. */
export type GeneratedFile = {
  name: string;
  /** Makes the file, at most this many bytes long. */
  make: (bytes: number) => Buffer;
};

/** `start`, then `unit` again and again, then `end`. */
const fill = (bytes: number, start: Uint8Array, unit: Uint8Array, end: Uint8Array = Buffer.alloc(0)): Buffer => {
  const count = Math.max(1, Math.floor((bytes - start.length - end.length) / unit.length));
  return Buffer.concat([start, Buffer.alloc(count * unit.length, unit), end]);
};
const hex = (digits: string): Buffer => Buffer.from(digits, "hex");

// JPEG
const segment = (marker: number, data: Buffer): Buffer =>
  Buffer.concat([Buffer.from([0xff, marker]), uint16(data.length + 2), data]);
const jpegStart = hex("ffd8");
const jpegFrame = segment(0xc0, hex("080020004001011100"));
const scan = segment(0xda, hex("010100003f00"));
const jpegEnd = Buffer.concat([scan, hex("0102ffd9")]);
const emptyComment = segment(0xfe, Buffer.alloc(0));
const emptyTable = segment(0xdb, Buffer.alloc(0));
const jpegBegin = Buffer.concat([jpegStart, jpegFrame]);

const jpegFiles: GeneratedFile[] = [
  { name: "JPEG: fill bytes", make: (n) => fill(n, jpegStart, hex("ff"), Buffer.concat([jpegFrame, jpegEnd])) },
  { name: "JPEG: restart markers", make: (n) => fill(n, jpegBegin, hex("ffd0"), jpegEnd) },
  { name: "JPEG: empty comments", make: (n) => fill(n, jpegBegin, emptyComment, jpegEnd) },
  {
    name: "JPEG: empty tables and comments by turns",
    make: (n) => fill(n, jpegBegin, Buffer.concat([emptyTable, emptyComment]), jpegEnd),
  },
  { name: "JPEG: empty scans", make: (n) => fill(n, jpegBegin, segment(0xda, Buffer.alloc(0)), jpegEnd) },
  { name: "JPEG: stuffed bytes", make: (n) => fill(n, Buffer.concat([jpegBegin, scan]), hex("ff00"), hex("ffd9")) },
];

// PNG
const pngChunk = (type: string, data: Buffer): Buffer => {
  const content = Buffer.concat([ascii(type), data]);
  return Buffer.concat([uint32(data.length), content, uint32(crc32(content))]);
};
const pngHeader = pngChunk("IHDR", Buffer.concat([uint32(32), uint32(32), hex("0802000000")]));
const pngBegin = Buffer.concat([hex("89504e470d0a1a0a"), pngHeader]);
const pngEnd = Buffer.concat([pngChunk("IDAT", Buffer.alloc(20)), pngChunk("IEND", Buffer.alloc(0))]);
const emptyText = pngChunk("tEXt", Buffer.alloc(0));
const emptyData = pngChunk("IDAT", Buffer.alloc(0));
/** TIFF directory with as many entries as its counter allows, none of which is the orientation. */
const fullDirectory = Buffer.concat([
  ascii("MM\0*"),
  uint32(8),
  uint16(0xffff),
  Buffer.alloc(12 * 0xffff, hex("010f00030000000100010000")),
]);

const pngFiles: GeneratedFile[] = [
  { name: "PNG: empty texts", make: (n) => fill(n, pngBegin, emptyText, pngEnd) },
  {
    name: "PNG: empty data and texts by turns",
    make: (n) => fill(n, pngBegin, Buffer.concat([emptyData, emptyText]), pngEnd),
  },
  {
    name: "PNG: directories of 65,535 entries",
    make: (n) => fill(n, pngBegin, pngChunk("eXIf", fullDirectory), pngEnd),
  },
];

// GIF
const gifBegin = Buffer.concat([ascii("GIF89a"), hex("02000200800000"), Buffer.alloc(6)]);
const gifFrame = hex("2c0000000002000200000202440100");
const gifTrailer = hex("3b");
const gifEnd = Buffer.concat([gifFrame, gifTrailer]);

const gifFiles: GeneratedFile[] = [
  {
    name: "GIF: control blocks and comments by turns",
    make: (n) => fill(n, gifBegin, hex("21f90021fe00"), gifEnd),
  },
  { name: "GIF: frames without data", make: (n) => fill(n, gifBegin, hex("2c0000000002000200000200"), gifEnd) },
  {
    name: "GIF: one comment of blocks of one byte",
    make: (n) => fill(n, Buffer.concat([gifBegin, hex("21fe")]), hex("0141"), Buffer.concat([hex("00"), gifEnd])),
  },
];

// WebP
const riffChunk = (type: string, data: Buffer): Buffer => {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(data.length);
  return Buffer.concat([ascii(type), length, data, Buffer.alloc(data.length % 2)]);
};
const webpCanvas = riffChunk("VP8X", hex("0c000000010000010000"));
const webpPicture = riffChunk("VP8L", hex("2f0140000000"));
const webp = (bytes: number, unit: Buffer): Buffer => {
  const file = fill(bytes, Buffer.concat([ascii("RIFF\0\0\0\0WEBP"), webpCanvas]), unit, webpPicture);
  file.writeUInt32LE(file.length - 8, 4);
  return file;
};

const webpFiles: GeneratedFile[] = [
  { name: "WebP: empty unknown chunks", make: (n) => webp(n, riffChunk("JUNK", Buffer.alloc(0))) },
  {
    name: "WebP: empty profiles and unknown chunks by turns",
    make: (n) => webp(n, Buffer.concat([riffChunk("ICCP", Buffer.alloc(0)), riffChunk("JUNK", Buffer.alloc(0))])),
  },
];

// HEIF
const heicBrand = box("ftyp", ascii("heic"), uint32(0), ascii("mif1heic"));
const metaHead = Buffer.alloc(4);
const itemEntry = (id: number) => box("infe", hex("02000000"), uint16(id), uint16(0), ascii("Exif\0"));
const itemList = (...entries: Buffer[]) => box("iinf", metaHead, uint16(entries.length), ...entries);
const itemLocation = (count: number, from: number, length: number): Buffer => {
  const extents = Buffer.alloc(8 * count, Buffer.concat([uint32(from), uint32(length)]));
  return box("iloc", hex("000000004400"), uint16(1), uint16(1), uint16(0), uint16(count), extents);
};
const anyMeta = box("meta", metaHead, itemList(itemEntry(1)), itemLocation(1, 40, 1));

const heifFiles: GeneratedFile[] = [
  {
    name: "HEIF: item lists that all name the same range",
    make: (n) => {
      const half = Math.floor(n / 2);
      const meta = box("meta", metaHead, itemList(itemEntry(1)), itemLocation(1, half, half - 100));
      return Buffer.concat([fill(half, heicBrand, meta), box("mdat", Buffer.alloc(half - 8, 1))]);
    },
  },
  {
    name: "HEIF: one item that names the same range again and again",
    make: (n) => {
      const meta = box("meta", metaHead, itemList(itemEntry(1)), itemLocation(5_000, 0, Math.floor(n / 2)));
      return Buffer.concat([heicBrand, meta, box("mdat", Buffer.alloc(n - heicBrand.length - meta.length - 8, 1))]);
    },
  },
  {
    name: "HEIF: one item in ranges of one byte",
    make: (n) => {
      const count = Math.min(0xffff, Math.floor(n / 32));
      const meta = box("meta", metaHead, itemList(itemEntry(1)), itemLocation(count, 0, 1));
      return Buffer.concat([heicBrand, meta, box("mdat", Buffer.alloc(n - heicBrand.length - meta.length - 8, 1))]);
    },
  },
  { name: "HEIF: empty boxes", make: (n) => fill(n, Buffer.concat([heicBrand, anyMeta]), box("free")) },
  { name: "HEIF: empty metadata boxes", make: (n) => fill(n, Buffer.concat([heicBrand, anyMeta]), box("uuid")) },
  {
    name: "HEIF: items in large numbers",
    make: (n) => {
      const entries = fill(n - 200, Buffer.alloc(0), itemEntry(1));
      return Buffer.concat([
        heicBrand,
        box("meta", metaHead, box("iinf", metaHead, uint16(0xffff), entries), itemLocation(1, 40, 1)),
      ]);
    },
  },
  {
    name: "HEIF: locations of unknown items",
    make: (n) => {
      const list = fill(n - 200, hex("020000004400ffffffff"), hex("00000002000000000000"));
      return Buffer.concat([heicBrand, box("meta", metaHead, itemList(itemEntry(1)), box("iloc", list))]);
    },
  },
  {
    name: "HEIF: containers in containers",
    make: (n) => {
      let inner = fill(n - 300, Buffer.alloc(0), box("trak"));
      for (let depth = 0; depth < 6; depth++) inner = box("trak", inner);
      return Buffer.concat([heicBrand, anyMeta, box("moov", inner)]);
    },
  },
];

// MP4
const filmBegin = Buffer.concat([box("ftyp", ascii("isom"), uint32(0)), box("moov", trak("vide"))]);
/** Header of a track that is said to extend to the end of the file. */
const endlessTrack = Buffer.concat([uint32(0x7fff_ffff), ascii("trak")]);
const trackOfManyBoxes = Buffer.concat([uint32(4_096), ascii("trak"), Buffer.alloc(4_088, box("free"))]);

const filmFiles: GeneratedFile[] = [
  { name: "MP4: empty boxes", make: (n) => fill(n, filmBegin, box("free")) },
  { name: "MP4: empty metadata boxes", make: (n) => fill(n, filmBegin, box("uuid")) },
  { name: "MP4: tracks in tracks", make: (n) => fill(n, filmBegin, endlessTrack) },
  { name: "MP4: tracks of many boxes", make: (n) => fill(n, filmBegin, trackOfManyBoxes) },
  {
    name: "MP4: brands in large numbers",
    make: (n) => Buffer.concat([box("ftyp", fill(n - 100, ascii("isom\0\0\0\0"), ascii("none"))), box("moov")]),
  },
];

// WebM
const webmBegin = Buffer.concat([makeEbmlHeader("webm"), endlessElement(ebmlIds.segment, makeTracks(1))]);

const webmFiles: GeneratedFile[] = [
  { name: "WebM: empty elements", make: (n) => fill(n, webmBegin, hex("ec80")) },
  { name: "WebM: empty tags", make: (n) => fill(n, webmBegin, hex("1254c36780")) },
  { name: "WebM: clusters in clusters", make: (n) => fill(n, webmBegin, endlessElement(ebmlIds.cluster)) },
  { name: "WebM: segments in segments", make: (n) => fill(n, webmBegin, endlessElement(ebmlIds.segment)) },
  {
    name: "WebM: a document type of the whole file",
    make: (n) => element("1a45dfa3", element("4282", Buffer.alloc(n - 30, 0x41), 8), 8),
  },
];

// Formats of which only the first bytes are read
const otherFiles: GeneratedFile[] = [
  { name: "PDF: empty objects", make: (n) => fill(n, ascii("%PDF-1.7\n"), ascii("1 0 obj\nendobj\n")) },
  {
    name: "ZIP: empty entries",
    make: (n) => fill(n, Buffer.alloc(0), Buffer.concat([ascii("PK\x03\x04"), Buffer.alloc(26)])),
  },
  {
    name: "Ogg: empty pages",
    make: (n) => fill(n, Buffer.alloc(0), Buffer.concat([ascii("OggS\0"), Buffer.alloc(22)])),
  },
  { name: "MP3: tags behind tags", make: (n) => fill(n, Buffer.alloc(0), ascii("ID3\x04\0\0\0\0\0\0")) },
  {
    name: "WAV: empty chunks",
    make: (n) => fill(n, ascii("RIFF\0\0\0\0WAVEfmt \0\0\0\0"), riffChunk("LIST", Buffer.alloc(0))),
  },
];

/**
 * Files that make a parser take its longest path: as many markers, chunks, boxes or elements as fit, nested containers,
 * and many references to one range of bytes. Most begin like an honest file of their format.
 */
export const hostileFiles: readonly GeneratedFile[] = [
  ...jpegFiles,
  ...pngFiles,
  ...gifFiles,
  ...webpFiles,
  ...heifFiles,
  ...filmFiles,
  ...webmFiles,
  ...otherFiles,
];

export const makeHostileFile = (name: string, bytes: number): Buffer => {
  const file = hostileFiles.find((one) => one.name === name);
  if (!file) throw new Error(`no such file: ${name}`);
  return file.make(bytes);
};

/** Honest files of as many parts as encoders write. */
export const manyPartedFiles: readonly GeneratedFile[] = [
  {
    name: "JPEG: a colour profile in 255 segments",
    make: () => {
      const profile = segment(0xe2, Buffer.concat([ascii("ICC_PROFILE\0"), Buffer.alloc(500)]));
      return Buffer.concat([jpegBegin, Buffer.alloc(255 * profile.length, profile), jpegEnd]);
    },
  },
  {
    name: "PNG: data in chunks of 1 kB",
    make: (n) => fill(n, pngBegin, pngChunk("IDAT", Buffer.alloc(1_024, 7)), pngEnd),
  },
  {
    name: "GIF: frames of 200 bytes",
    make: (n) => {
      const data = Buffer.concat([Buffer.from([180]), Buffer.alloc(180, 1), hex("00")]);
      const frame = Buffer.concat([hex("21f9040100000000"), hex("2c00000000020002000002"), data]);
      return fill(n, gifBegin, frame, gifEnd);
    },
  },
  {
    name: "WebP: frames of 400 bytes",
    make: (n) => webp(n, riffChunk("ANMF", Buffer.concat([Buffer.alloc(16), Buffer.alloc(376)]))),
  },
  { name: "HEIF: 1,000 tiles", make: () => makeHeic("heic", ascii("the picture"), 1_000) },
];
