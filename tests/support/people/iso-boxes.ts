/** Boxes of ISO/IEC 14496-12, built byte by byte. */

export const ascii = (text: string): Buffer => Buffer.from(text, "latin1");
export const uint16 = (value: number): Buffer => {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
};
export const uint32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};

export const box = (type: string, ...data: Uint8Array[]): Buffer => {
  const body = Buffer.concat(data);
  return Buffer.concat([uint32(body.length + 8), ascii(type), body]);
};
const fullBox = (type: string, version: number, ...data: Uint8Array[]): Buffer =>
  box(type, Buffer.from([version, 0, 0, 0]), ...data);

export const trak = (handler: string, ...more: Uint8Array[]): Buffer =>
  box("trak", box("tkhd", Buffer.alloc(20)), box("mdia", box("hdlr", Buffer.alloc(8), ascii(handler))), ...more);

/** Location in a photo's metadata. */
export const photoLocation = "+04.3224-015.3070/";

type Item = { id: number; type: string; data: Buffer; isInMeta?: boolean };

const makeMeta = (items: readonly Item[], offsets: Map<number, number>): Buffer => {
  const inside = items.filter(({ isInMeta }) => isInMeta);
  return fullBox(
    "meta",
    0,
    fullBox("hdlr", 0, Buffer.alloc(4), ascii("pict"), Buffer.alloc(13)),
    fullBox("pitm", 0, uint16(1)),
    fullBox(
      "iinf",
      0,
      uint16(items.length),
      ...items.map(({ id, type }) => fullBox("infe", 2, uint16(id), uint16(0), ascii(`${type}\0`))),
    ),
    fullBox(
      "iloc",
      1,
      Buffer.from([0x44, 0x00]),
      uint16(items.length),
      ...items.map(({ id, data, isInMeta }) =>
        Buffer.concat([
          ...[uint16(id), uint16(isInMeta ? 1 : 0), uint16(0), uint16(1)],
          ...[uint32(offsets.get(id) ?? 0), uint32(data.length)],
        ]),
      ),
    ),
    box("idat", ...inside.map(({ data }) => data)),
  );
};

/** Photo as an iPhone takes it: camera metadata, picture, XMP and tiles of the picture, in the order of these items. */
export const makeHeic = (brand = "heic", picture: Buffer = ascii("the picture"), tiles = 0): Buffer => {
  const items: Item[] = [
    { id: 2, type: "Exif", data: ascii(`\0\0\0\x06Exif\0\0MM\0*GPS ${photoLocation}`) },
    { id: 1, type: "hvc1", data: picture },
    { id: 3, type: "mime", data: ascii(`<x:xmpmeta>${photoLocation}</x:xmpmeta>`), isInMeta: true },
    ...Array.from({ length: tiles }, (_, n) => ({ id: 4 + n, type: "hvc1", data: ascii("a tile") })),
  ];
  const type = box("ftyp", ascii(brand), uint32(0), ascii("mif1"), ascii(brand));
  let at = type.length + makeMeta(items, new Map()).length + 8;
  const offsets = new Map<number, number>();
  for (const { id, data, isInMeta } of items) {
    if (isInMeta) continue;
    offsets.set(id, at);
    at += data.length;
  }
  const stored = items.filter(({ isInMeta }) => !isInMeta).map(({ data }) => data);
  return Buffer.concat([type, makeMeta(items, offsets), box("mdat", ...stored)]);
};
