import { describe, expect, test } from "vitest";
import { firstSpot, keepWithin, moveByKey, nextCorner, previewSize } from "../../src/features/calls/preview-place";

const phone = { width: 360, height: 740 };
const insets = { top: 64, right: 12, bottom: 160, left: 12 };
const right = phone.width - insets.right - previewSize.width;
const bottom = phone.height - insets.bottom - previewSize.height;

describe("one's own picture in a video call", () => {
  test("is as large as specified and begins above the controls at the right", () => {
    expect(previewSize).toEqual({ width: 128, height: 192 });
    expect(firstSpot(phone, insets)).toEqual({ x: right, y: bottom });
  });

  test("stays within its range wherever it is dragged", () => {
    expect(keepWithin({ x: -500, y: -500 }, phone, insets)).toEqual({ x: insets.left, y: insets.top });
    expect(keepWithin({ x: 5_000, y: 5_000 }, phone, insets)).toEqual({ x: right, y: bottom });
    expect(keepWithin({ x: 100, y: 300 }, phone, insets)).toEqual({ x: 100, y: 300 });
  });

  test("stays where the range begins on a screen that has no room for one", () => {
    const low = { width: 120, height: 200 };
    expect(keepWithin({ x: 90, y: 90 }, low, insets)).toEqual({ x: insets.left, y: insets.top });
    expect(firstSpot(low, insets)).toEqual({ x: insets.left, y: insets.top });
  });

  test("is moved by arrow keys and by no others, and not out of its range", () => {
    const spot = { x: 100, y: 300 };
    expect(moveByKey("ArrowLeft", spot, phone, insets)).toEqual({ x: 76, y: 300 });
    expect(moveByKey("ArrowRight", spot, phone, insets)).toEqual({ x: 124, y: 300 });
    expect(moveByKey("ArrowUp", spot, phone, insets)).toEqual({ x: 100, y: 276 });
    expect(moveByKey("ArrowDown", spot, phone, insets)).toEqual({ x: 100, y: 324 });
    expect(moveByKey("Enter", spot, phone, insets)).toBeUndefined();
    expect(moveByKey("ArrowRight", { x: right, y: 300 }, phone, insets)).toEqual({ x: right, y: 300 });
  });

  test("goes round the four corners when it is pressed", () => {
    const corners = [firstSpot(phone, insets)];
    for (let i = 0; i < 4; i++) corners.push(nextCorner(corners.at(-1) ?? corners[0] ?? { x: 0, y: 0 }, phone, insets));
    expect(corners).toEqual([
      { x: right, y: bottom },
      { x: insets.left, y: bottom },
      { x: insets.left, y: insets.top },
      { x: right, y: insets.top },
      { x: right, y: bottom },
    ]);
  });
});
