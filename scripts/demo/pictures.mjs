// Generated photographs of the demo: an evening at the river, and a cake.
import { rgbaToThumbHash } from "thumbhash";
import { box, ellipse, encodePng, mix, toCoverage } from "./png.mjs";

const width = 640;
const height = 420;
const thumbEdge = 64; // the hash stores less detail than this

const bands = (stops, share) => {
  const at = Math.min(0.999, Math.max(0, share)) * (stops.length - 1);
  return mix(stops[Math.floor(at)], stops[Math.floor(at) + 1], at % 1);
};

const sky = [
  [52, 34, 82],
  [148, 62, 104],
  [236, 120, 78],
  [255, 206, 128],
];
const water = [
  [214, 124, 88],
  [112, 62, 96],
  [34, 28, 62],
];

/** The Congo at dusk: a low sun with its glitter, hills on the far side and a pirogue. */
function paintRiver(x, y) {
  const horizon = 236;
  const hill = 16 * Math.sin(x / 84) + 9 * Math.sin(x / 31 + 1);
  let colour = y < horizon ? bands(sky, y / horizon) : bands(water, (y - horizon) / (height - horizon));
  const put = (distance, paint) => {
    colour = mix(colour, paint, toCoverage(distance));
  };
  if (y < horizon) put(ellipse(x, y, 410, 196, 44, 44), [255, 240, 196]);
  put(Math.max(horizon - 16 - hill - y, y - horizon), [58, 36, 66]);
  const ripple = Math.sin(y / 3.2 + Math.sin(x / 26) * 1.6);
  if (y > horizon && ripple > 0.45) put(Math.abs(x - 410) - 12 - (y - horizon) / 2.6, [255, 214, 150]);
  const keel = 336 + ((x - 190) / 118) ** 2 * -16;
  put(Math.max(Math.abs(x - 190) - 118, keel - y, y - keel - 13), [26, 18, 30]);
  put(box(x, y, 236, 310, 7, 26), [26, 18, 30]);
  put(ellipse(x, y, 236, 276, 10, 11), [26, 18, 30]);
  put(Math.max(Math.abs(x - 262 - (y - 320) * 0.3) - 1.6, Math.abs(y - 308) - 46), [26, 18, 30]);
  return colour;
}

/** A cake of two tiers with icing, candles and a plate, on a pagne. */
function paintCake(x, y) {
  const wave = Math.sin(x / 22 + Math.sin(y / 30) * 2) > 0.5;
  let colour =
    y > 292
      ? wave
        ? [30, 96, 112]
        : [238, 178, 62]
      : bands(
          [
            [250, 226, 206],
            [236, 186, 168],
          ],
          y / 292,
        );
  const put = (distance, paint) => {
    colour = mix(colour, paint, toCoverage(distance));
  };
  put(ellipse(x, y, 320, 330, 196, 44), [246, 244, 240]);
  for (const { top, half, sponge } of [
    { top: 222, half: 150, sponge: [150, 92, 60] },
    { top: 142, half: 96, sponge: [168, 104, 68] },
  ]) {
    put(ellipse(x, y, 320, top + 96, half, 30), sponge);
    put(box(x, y, 320, top + 48, half, 48), sponge);
    const drip = 22 + 12 * Math.sin(x / 13) + 6 * Math.sin(x / 5);
    put(Math.max(Math.abs(x - 320) - half, top - y, y - top - drip), [250, 232, 236]);
    put(ellipse(x, y, 320, top, half, 30), [255, 246, 246]);
  }
  for (const candle of [256, 288, 320, 352, 384]) {
    put(box(x, y, candle, 110, 4, 26), candle % 64 === 0 ? [134, 41, 95] : [32, 110, 120]);
    put(ellipse(x, y, candle, 74, 6, 12), [255, 196, 70]);
  }
  for (let i = 0; i < 24; i++) {
    const [dx, dy] = [320 + 128 * Math.cos(i * 2.4), 222 + 22 * Math.sin(i * 2.4)];
    put(ellipse(x, y, dx, dy, 4, 4), i % 2 ? [214, 70, 90] : [134, 41, 95]);
  }
  return colour;
}

function computeThumbHash(colourAt) {
  const [w, h] = [thumbEdge, Math.round((thumbEdge * height) / width)];
  const pixels = [];
  for (let y = 0; y < h; y++) {
    for (let x = 0; x < w; x++) pixels.push(...colourAt(((x + 0.5) * width) / w, ((y + 0.5) * height) / h), 255);
  }
  return Buffer.from(rgbaToThumbHash(w, h, pixels)).toString("base64url");
}

const scenes = { river: paintRiver, cake: paintCake };

/**
 * Picture of some tens of kilobytes with its thumbhash.
 * @param {keyof typeof scenes} scene
 */
export const drawPicture = (scene) => ({
  width,
  height,
  bytes: encodePng(width, height, scenes[scene]),
  thumb: computeThumbHash(scenes[scene]),
});
