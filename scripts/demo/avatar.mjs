// Generated portraits: a head, hair and a patterned cloth on a coloured background, as a PNG.
import { ellipse, encodePng, mix, toCoverage } from "./png.mjs";

const size = 320;

/** @typedef {{ ground: number[], glow: number[], skin: number[], hair: number[], cloth: number[], accent: number[], style: "round" | "wrap" | "short" | "long" }} Look */

/** Cloth pattern of dots and waves, as on a pagne. */
function paintCloth(x, y, { cloth, accent }) {
  const wave = Math.sin(x / 9 + Math.sin(y / 14) * 2) > 0.55;
  const dot = Math.hypot((x % 40) - 20, (y % 34) - 17) < 7;
  return wave !== dot ? accent : cloth;
}

function hairDistance(x, y, style) {
  if (style === "round") return ellipse(x, y, 160, 118, 92, 88);
  if (style === "long") return Math.min(ellipse(x, y, 160, 112, 78, 74), ellipse(x, y, 160, 180, 84, 104));
  if (style === "wrap") return Math.min(ellipse(x, y, 160, 92, 80, 58), ellipse(x, y, 196, 50, 34, 26));
  return ellipse(x, y, 160, 112, 72, 68);
}

/** @param {Look} look */
function paintPixel(x, y, look) {
  let colour = mix(look.glow, look.ground, Math.min(1, Math.hypot(x - 110, y - 90) / 300));
  const paintShape = (distance, paint) => {
    colour = mix(colour, paint, toCoverage(distance));
  };
  const hair = look.style === "wrap" ? paintCloth(x * 1.4, y * 1.4, look) : look.hair;
  if (look.style === "long" || look.style === "round") paintShape(hairDistance(x, y, look.style), hair);
  paintShape(ellipse(x, y, 160, 350, 132, 112), paintCloth(x, y, look));
  paintShape(ellipse(x, y, 160, 228, 32, 46), mix(look.skin, [0, 0, 0], 0.14));
  paintShape(ellipse(x, y, 160, 154, 62, 76), look.skin);
  if (look.style === "wrap") paintShape(Math.max(hairDistance(x, y, "wrap"), y - 112), hair);
  else paintShape(Math.max(hairDistance(x, y, look.style), y - 104 - (x - 160) ** 2 / 240), hair);
  for (const side of [-1, 1]) paintShape(ellipse(x, y, 160 + side * 24, 152, 6, 7), [32, 20, 22]);
  paintShape(Math.abs(Math.hypot(x - 160, y - 172) - 20) - 2.2 + (y < 184 ? 9 : 0), mix(look.skin, [60, 10, 20], 0.55));
  return colour;
}

/**
 * PNG of 320×320 pixels, about ten kilobytes.
 * @param {Look} look
 */
export const drawAvatar = (look) => encodePng(size, size, (x, y) => paintPixel(x, y, look));
