import { describe, expect, test } from "vitest";
import {
  bandOf,
  firstSpot,
  keepWithin,
  moveByKey,
  nextCorner,
  previewSize,
  sizeWithin,
  tightSize,
} from "#features/calls/screen/preview-position.ts";

const area = { width: 360, height: 740 };
const insets = { top: 64, right: 12, bottom: 160, left: 12 };
const phone = { area, insets, size: previewSize };
const right = area.width - insets.right - previewSize.width;
const bottom = area.height - insets.bottom - previewSize.height;

describe("one's own picture in a video call", () => {
  test("is as large as specified and begins above the controls at the right", () => {
    expect(sizeWithin(area, insets, false)).toEqual({ width: 128, height: 192 });
    expect(firstSpot(phone)).toEqual({ x: right, y: bottom });
  });

  test("begins where it covers least of a picture that lies across", () => {
    const band = bandOf(area, { width: 640, height: 480 });
    expect(band).toEqual({ top: 235, bottom: 505 });
    expect(firstSpot(phone, band)).toEqual({ x: right, y: insets.top });
    // One that stands upright fills the screen; its face is in its upper half.
    expect(bandOf(area, { width: 480, height: 640 })).toBeUndefined();
  });

  test("is smaller where there is little room, and never so small that nobody sees themselves", () => {
    expect(sizeWithin({ width: 320, height: 480 }, insets, false)).toEqual({ width: 85, height: 128 });
    expect(sizeWithin({ width: 320, height: 568 }, insets, true)).toEqual(tightSize);
    expect(sizeWithin({ width: 480, height: 320 }, insets, true)).toEqual({ width: 64, height: 96 });
  });

  test("stays within its range wherever it is dragged", () => {
    expect(keepWithin({ x: -500, y: -500 }, phone)).toEqual({ x: insets.left, y: insets.top });
    expect(keepWithin({ x: 5_000, y: 5_000 }, phone)).toEqual({ x: right, y: bottom });
    expect(keepWithin({ x: 100, y: 300 }, phone)).toEqual({ x: 100, y: 300 });
  });

  test("stays where the range begins on a screen that has no room for one", () => {
    const low = { ...phone, area: { width: 120, height: 200 } };
    expect(keepWithin({ x: 90, y: 90 }, low)).toEqual({ x: insets.left, y: insets.top });
    expect(firstSpot(low)).toEqual({ x: insets.left, y: insets.top });
  });

  test("is moved by arrow keys and by no others, and not out of its range", () => {
    const spot = { x: 100, y: 300 };
    expect(moveByKey("ArrowLeft", spot, phone)).toEqual({ x: 76, y: 300 });
    expect(moveByKey("ArrowRight", spot, phone)).toEqual({ x: 124, y: 300 });
    expect(moveByKey("ArrowUp", spot, phone)).toEqual({ x: 100, y: 276 });
    expect(moveByKey("ArrowDown", spot, phone)).toEqual({ x: 100, y: 324 });
    expect(moveByKey("Enter", spot, phone)).toBeUndefined();
    expect(moveByKey("ArrowRight", { x: right, y: 300 }, phone)).toEqual({ x: right, y: 300 });
  });

  test("goes round the four corners when it is pressed", () => {
    const corners = [firstSpot(phone)];
    for (let i = 0; i < 4; i++) corners.push(nextCorner(corners.at(-1) ?? corners[0] ?? { x: 0, y: 0 }, phone));
    expect(corners).toEqual([
      { x: right, y: bottom },
      { x: insets.left, y: bottom },
      { x: insets.left, y: insets.top },
      { x: right, y: insets.top },
      { x: right, y: bottom },
    ]);
  });
});
