import { expect, test } from "vitest";
import {
  type Crop,
  createCenteredCrop,
  cropZoomMax,
  moveCrop,
  type Point,
  type Size,
  toCropSquare,
  toImagePlacement,
  zoomCrop,
} from "#lib/media/crop.ts";

const wide: Size = { width: 4000, height: 3000 };
const tall: Size = { width: 900, height: 1600 };
const tiny: Size = { width: 1, height: 7 };

/** Point of the picture shown at a position of the frame. */
const seenAt = (size: Size, crop: Crop, at: Point): Point => {
  const { left, top, side } = toCropSquare(size, crop);
  return { x: left + at.x * side, y: top + at.y * side };
};

const expectInside = (size: Size, crop: Crop) => {
  const { left, top, side } = toCropSquare(size, crop);
  expect(side).toBeGreaterThan(0);
  expect(side).toBeLessThanOrEqual(Math.min(size.width, size.height) + 1e-9);
  expect(left).toBeGreaterThanOrEqual(-1e-9);
  expect(top).toBeGreaterThanOrEqual(-1e-9);
  expect(left + side).toBeLessThanOrEqual(size.width + 1e-9);
  expect(top + side).toBeLessThanOrEqual(size.height + 1e-9);
};

test("a picture starts with the largest square of its middle", () => {
  expect(toCropSquare(wide, createCenteredCrop(wide))).toEqual({ left: 500, top: 0, side: 3000 });
  expect(toCropSquare(tall, createCenteredCrop(tall))).toEqual({ left: 0, top: 350, side: 900 });
});

test("a dragged picture follows the finger, and stops at its edge", () => {
  const crop = moveCrop(wide, createCenteredCrop(wide), { x: 0.1, y: 0.3 });
  // A tenth of the frame to the right shows the pixels 300 further left; there is nothing above.
  expect(toCropSquare(wide, crop)).toEqual({ left: 200, top: 0, side: 3000 });
  expect(toCropSquare(wide, moveCrop(wide, crop, { x: 9, y: 0 })).left).toBe(0);
  expect(toCropSquare(wide, moveCrop(wide, crop, { x: -9, y: 0 })).left).toBe(1000);
});

test("zooming keeps the point between the fingers in place", () => {
  const at = { x: 0.25, y: 0.7 };
  const before = seenAt(wide, createCenteredCrop(wide), at);
  const crop = zoomCrop(wide, createCenteredCrop(wide), 2, at);
  const after = seenAt(wide, crop, at);
  expect(toCropSquare(wide, crop).side).toBe(1500);
  expect(after.x).toBeCloseTo(before.x);
  expect(after.y).toBeCloseTo(before.y);
});

test("it zooms in to its maximum, and out until the picture fills the frame", () => {
  const largest = zoomCrop(tall, createCenteredCrop(tall), 99);
  expect(largest.zoom).toBe(cropZoomMax);
  // At the limit nothing moves.
  expect(zoomCrop(tall, largest, 99, { x: 0, y: 0 })).toEqual(largest);
  expect(zoomCrop(tall, largest, 0.1).zoom).toBe(1);
});

test("the cut contains only the picture after any gestures", () => {
  let seed = 7;
  const random = () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed / 2_147_483_647;
  };
  for (const size of [wide, tall, tiny, { width: 512, height: 512 }]) {
    let crop = createCenteredCrop(size);
    for (let step = 0; step < 500; step++) {
      crop =
        random() < 0.5
          ? moveCrop(size, crop, { x: random() * 4 - 2, y: random() * 4 - 2 })
          : zoomCrop(size, crop, random() * 6, { x: random(), y: random() });
      expectInside(size, crop);
    }
  }
});

test("the picture is placed so that the frame shows the cut", () => {
  const crop = moveCrop(wide, zoomCrop(wide, createCenteredCrop(wide), 2), { x: 0.2, y: -0.1 });
  const { left, top, side } = toCropSquare(wide, crop);
  const placed = toImagePlacement(wide, crop);
  // The corner of the cut is the corner of the frame, and its side the frame's.
  expect(placed.left + (left / wide.width) * placed.width).toBeCloseTo(0);
  expect(placed.top + (top / wide.height) * placed.height).toBeCloseTo(0);
  expect((side / wide.width) * placed.width).toBeCloseTo(1);
  expect((side / wide.height) * placed.height).toBeCloseTo(1);
});
