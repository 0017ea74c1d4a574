/**
 * AreaSize of the local preview of a video call (SPEC.md §9): 128×192 px, moved within the area the controls leave
 * free.
 */
export const previewSize = { width: 128, height: 192 };
/** AreaSize in little room; text beside it keeps clear of it. */
export const smallPreviewSize = { width: 80, height: 120 };
const minHeight = 96;

export type PreviewPosition = { x: number; y: number };
type AreaSize = { width: number; height: number };
/** Distance to keep from each edge of the area. */
export type PreviewInsets = { top: number; right: number; bottom: number; left: number };
/** Area the preview moves within, and its size there. */
export type PreviewBounds = { area: AreaSize; insets: PreviewInsets; size: AreaSize };

const clamp = (value: number, from: number, to: number): number => Math.min(Math.max(value, from), Math.max(from, to));

/** AreaSize of the preview: at most half the free height. */
export const fitPreviewSize = (area: AreaSize, { top, bottom }: PreviewInsets, isTight: boolean): AreaSize => {
  const maxSize = isTight ? smallPreviewSize : previewSize;
  const height = Math.round(clamp((area.height - top - bottom) / 2, minHeight, maxSize.height));
  return { width: Math.round((height * maxSize.width) / maxSize.height), height };
};

/** Range of the preview's upper left corner. Without enough room the range is its beginning. */
const toPositionRange = ({ area, insets, size }: PreviewBounds) => ({
  left: insets.left,
  top: insets.top,
  right: Math.max(insets.left, area.width - insets.right - size.width),
  bottom: Math.max(insets.top, area.height - insets.bottom - size.height),
});

/** Nearest position within the range. */
export const clampPosition = ({ x, y }: PreviewPosition, bounds: PreviewBounds): PreviewPosition => {
  const range = toPositionRange(bounds);
  return { x: clamp(x, range.left, range.right), y: clamp(y, range.top, range.bottom) };
};

/** Vertical range of the remote video if it does not fill the area. */
export type VideoBand = { top: number; bottom: number };

/** A landscape video is as wide as the area and vertically centred. */
export const toVideoBand = (area: AreaSize, picture: AreaSize): VideoBand | undefined => {
  if (picture.width <= picture.height) return undefined;
  const height = Math.min(area.height, (area.width * picture.height) / picture.width);
  return { top: (area.height - height) / 2, bottom: (area.height + height) / 2 };
};

/** Initial corner, at the right: above the controls, or at the top if that covers less of the remote video. */
export const getInitialPosition = (bounds: PreviewBounds, videoBand?: VideoBand): PreviewPosition => {
  const { right, top, bottom } = toPositionRange(bounds);
  const covered = (y: number): number =>
    videoBand ? Math.max(0, Math.min(y + bounds.size.height, videoBand.bottom) - Math.max(y, videoBand.top)) : 0;
  return { x: right, y: covered(top) < covered(bottom) ? top : bottom };
};

/** Next corner clockwise from the nearest one. */
export const getNextCorner = ({ x, y }: PreviewPosition, bounds: PreviewBounds): PreviewPosition => {
  const { left, top, right, bottom } = toPositionRange(bounds);
  const isRight = x > (left + right) / 2;
  const isBottom = y > (top + bottom) / 2;
  if (!isBottom) return isRight ? { x: right, y: bottom } : { x: right, y: top };
  return isRight ? { x: left, y: bottom } : { x: left, y: top };
};

const stepPx = 24;
const keySteps: Partial<Record<string, PreviewPosition>> = {
  ArrowLeft: { x: -stepPx, y: 0 },
  ArrowRight: { x: stepPx, y: 0 },
  ArrowUp: { x: 0, y: -stepPx },
  ArrowDown: { x: 0, y: stepPx },
};

/** Position after an arrow key; undefined for other keys. */
export const moveByKey = (
  key: string,
  { x, y }: PreviewPosition,
  bounds: PreviewBounds,
): PreviewPosition | undefined => {
  const step = keySteps[key];
  return step && clampPosition({ x: x + step.x, y: y + step.y }, bounds);
};
