// Software rasterizer: anti-aliased shapes, pixel by pixel, encoded as a PNG.
import { crc32, deflateSync } from "node:zlib";

/** @typedef {(x: number, y: number) => number[]} ColourAt red, green and blue of a place, 0 to 255 */

export const mix = (from, to, share) => from.map((value, i) => value + (to[i] - value) * share);
/** Coverage of a pixel by a shape whose edge is `distance` away, anti-aliased over one pixel. */
export const toCoverage = (distance) => Math.min(1, Math.max(0, 0.5 - distance));
export const ellipse = (x, y, cx, cy, rx, ry) => (Math.hypot((x - cx) / rx, (y - cy) / ry) - 1) * Math.min(rx, ry);
export const box = (x, y, cx, cy, halfWidth, halfHeight) =>
  Math.max(Math.abs(x - cx) - halfWidth, Math.abs(y - cy) - halfHeight);

function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const frame = Buffer.alloc(body.length + 8);
  frame.writeUInt32BE(data.length, 0);
  body.copy(frame, 4);
  frame.writeUInt32BE(crc32(body), body.length + 4);
  return frame;
}

/**
 * @param {number} width
 * @param {number} height
 * @param {ColourAt} colourAt
 */
export function encodePng(width, height, colourAt) {
  const rows = Buffer.alloc(height * (width * 3 + 1));
  let at = 0;
  for (let y = 0; y < height; y++) {
    rows[at++] = 0; // no filter
    for (let x = 0; x < width; x++) for (const value of colourAt(x, y)) rows[at++] = Math.round(value);
  }
  const header = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 2, 0, 0, 0]); // 8 bits, RGB
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(rows, { level: 9 })),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}
