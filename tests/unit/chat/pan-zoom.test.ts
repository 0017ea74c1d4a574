import { describe, expect, it } from "vitest";
import {
  clampPanZoom,
  computeFittedSize,
  fittedState,
  panZoomMax,
  zoomAtPoint,
} from "#components/overlays/pan-zoom.ts";

const frame = { width: 360, height: 640 };

describe("a picture in the viewer", () => {
  it("fits its frame, and is never shown larger than its size", () => {
    expect(computeFittedSize({ width: 1_600, height: 1_200 }, frame)).toEqual({ width: 360, height: 270 });
    expect(computeFittedSize({ width: 100, height: 50 }, frame)).toEqual({ width: 100, height: 50 });
  });

  it("keeps the point under the finger in place, however often it is zoomed", () => {
    const point = { x: 60, y: -40 };
    const pose = zoomAtPoint(zoomAtPoint(fittedState, 2, point), 5, point);
    // The position of the point in the picture's own pixels.
    expect((point.x - pose.x) / pose.scale).toBeCloseTo(point.x);
    expect((point.y - pose.y) / pose.scale).toBeCloseTo(point.y);
  });

  it("neither leaves its frame nor exceeds its zoom limits", () => {
    const fit = computeFittedSize({ width: 1_600, height: 1_200 }, frame);
    expect(clampPanZoom({ scale: 2, x: 9_999, y: 9_999 }, fit, frame)).toEqual({ scale: 2, x: 180, y: 0 });
    expect(clampPanZoom({ scale: 0.2, x: 50, y: 50 }, fit, frame)).toEqual(fittedState);
    expect(zoomAtPoint(fittedState, 1_000, { x: 0, y: 0 }).scale).toBe(panZoomMax);
  });
});
