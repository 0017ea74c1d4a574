import { describe, expect, test } from "vitest";
import {
  clampPosition,
  fitPreviewSize,
  getInitialPosition,
  getNextCorner,
  moveByKey,
  previewSize,
  smallPreviewSize,
  toVideoBand,
} from "#features/calls/screen/preview-position.ts";

const area = { width: 360, height: 740 };
const insets = { top: 64, right: 12, bottom: 160, left: 12 };
const phone = { area, insets, size: previewSize };
const right = area.width - insets.right - previewSize.width;
const bottom = area.height - insets.bottom - previewSize.height;

describe("the preview of the own video in a call", () => {
  test("has the specified size and starts above the controls at the right", () => {
    expect(fitPreviewSize(area, insets, false)).toEqual({ width: 128, height: 192 });
    expect(getInitialPosition(phone)).toEqual({ x: right, y: bottom });
  });

  test("starts where it covers least of a landscape video", () => {
    const band = toVideoBand(area, { width: 640, height: 480 });
    expect(band).toEqual({ top: 235, bottom: 505 });
    expect(getInitialPosition(phone, band)).toEqual({ x: right, y: insets.top });
    // A portrait video fills the screen; its face is in the upper half.
    expect(toVideoBand(area, { width: 480, height: 640 })).toBeUndefined();
  });

  test("is smaller in little room, but never too small to be recognised", () => {
    expect(fitPreviewSize({ width: 320, height: 480 }, insets, false)).toEqual({ width: 85, height: 128 });
    expect(fitPreviewSize({ width: 320, height: 568 }, insets, true)).toEqual(smallPreviewSize);
    expect(fitPreviewSize({ width: 480, height: 320 }, insets, true)).toEqual({ width: 64, height: 96 });
  });

  test("stays within its range wherever it is dragged", () => {
    expect(clampPosition({ x: -500, y: -500 }, phone)).toEqual({ x: insets.left, y: insets.top });
    expect(clampPosition({ x: 5_000, y: 5_000 }, phone)).toEqual({ x: right, y: bottom });
    expect(clampPosition({ x: 100, y: 300 }, phone)).toEqual({ x: 100, y: 300 });
  });

  test("stays at the start of its range on a screen without room", () => {
    const low = { ...phone, area: { width: 120, height: 200 } };
    expect(clampPosition({ x: 90, y: 90 }, low)).toEqual({ x: insets.left, y: insets.top });
    expect(getInitialPosition(low)).toEqual({ x: insets.left, y: insets.top });
  });

  test("is moved by arrow keys only, and not out of its range", () => {
    const spot = { x: 100, y: 300 };
    expect(moveByKey("ArrowLeft", spot, phone)).toEqual({ x: 76, y: 300 });
    expect(moveByKey("ArrowRight", spot, phone)).toEqual({ x: 124, y: 300 });
    expect(moveByKey("ArrowUp", spot, phone)).toEqual({ x: 100, y: 276 });
    expect(moveByKey("ArrowDown", spot, phone)).toEqual({ x: 100, y: 324 });
    expect(moveByKey("Enter", spot, phone)).toBeUndefined();
    expect(moveByKey("ArrowRight", { x: right, y: 300 }, phone)).toEqual({ x: right, y: 300 });
  });

  test("moves through the four corners when it is pressed", () => {
    const corners = [getInitialPosition(phone)];
    for (let i = 0; i < 4; i++) corners.push(getNextCorner(corners.at(-1) ?? corners[0] ?? { x: 0, y: 0 }, phone));
    expect(corners).toEqual([
      { x: right, y: bottom },
      { x: insets.left, y: bottom },
      { x: insets.left, y: insets.top },
      { x: right, y: insets.top },
      { x: right, y: bottom },
    ]);
  });
});
