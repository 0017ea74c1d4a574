/** How a picture lies in its frame: `scale` 1 fits, `x` and `y` are how far its middle is from the frame's, in CSS pixels. */
export type PanZoomState = { scale: number; x: number; y: number };
export type Size = { width: number; height: number };

export const panZoomMax = 6;
export const fittedState: PanZoomState = { scale: 1, x: 0, y: 0 };

/** The picture's size in the frame when it fits; never larger than itself. */
export const computeFittedSize = (picture: Size, frame: Size): Size => {
  const scale = Math.min(1, frame.width / picture.width, frame.height / picture.height);
  return { width: picture.width * scale, height: picture.height * scale };
};

const clampSymmetric = (value: number, most: number): number => Math.max(-most, Math.min(most, value));

/** The same pose, with the picture's edge never inside the frame where the picture is larger. */
export const clampPanZoom = (pose: PanZoomState, fit: Size, frame: Size): PanZoomState => {
  const scale = Math.max(1, Math.min(panZoomMax, pose.scale));
  const roomX = Math.max(0, (fit.width * scale - frame.width) / 2);
  const roomY = Math.max(0, (fit.height * scale - frame.height) / 2);
  return { scale, x: clampSymmetric(pose.x, roomX), y: clampSymmetric(pose.y, roomY) };
};

/** Zooms so that what lies under a point (from the frame's middle) stays under it. */
export const zoomAtPoint = (pose: PanZoomState, scale: number, point: { x: number; y: number }): PanZoomState => {
  const by = Math.max(1, Math.min(panZoomMax, scale)) / pose.scale;
  return { scale: pose.scale * by, x: point.x - (point.x - pose.x) * by, y: point.y - (point.y - pose.y) * by };
};
