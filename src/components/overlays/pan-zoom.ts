import type { Size } from "#lib/media/crop.ts";

/**
 * Position of a picture in its frame: `scale` 1 fits; `x` and `y` are the offset of its centre from the frame's centre,
 * in CSS pixels.
 */
export type PanZoomState = { scale: number; x: number; y: number };

export const panZoomMax = 6;
export const fittedState: PanZoomState = { scale: 1, x: 0, y: 0 };

/** Size of the fitted picture in the frame; never larger than its natural size. */
export const computeFittedSize = (picture: Size, frame: Size): Size => {
  const scale = Math.min(1, frame.width / picture.width, frame.height / picture.height);
  return { width: picture.width * scale, height: picture.height * scale };
};

const clampSymmetric = (value: number, max: number): number => Math.max(-max, Math.min(max, value));

/** Limits the state so that a zoomed picture's edges never come inside the frame. */
export const clampPanZoom = (pose: PanZoomState, fit: Size, frame: Size): PanZoomState => {
  const scale = Math.max(1, Math.min(panZoomMax, pose.scale));
  const maxOffsetX = Math.max(0, (fit.width * scale - frame.width) / 2);
  const maxOffsetY = Math.max(0, (fit.height * scale - frame.height) / 2);
  return { scale, x: clampSymmetric(pose.x, maxOffsetX), y: clampSymmetric(pose.y, maxOffsetY) };
};

/** Zooms while keeping the content under a point in place; the point is relative to the frame's centre. */
export const zoomAtPoint = (pose: PanZoomState, scale: number, point: { x: number; y: number }): PanZoomState => {
  const factor = Math.max(1, Math.min(panZoomMax, scale)) / pose.scale;
  return {
    scale: pose.scale * factor,
    x: point.x - (point.x - pose.x) * factor,
    y: point.y - (point.y - pose.y) * factor,
  };
};
