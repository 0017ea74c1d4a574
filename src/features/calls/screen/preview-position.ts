/** The local preview of a video call (SPEC.md §9): 128×192 px, moved within what the controls leave free. */
export const previewSize = { width: 128, height: 192 };
/** Where there is little room it is smaller, and what stands beside it keeps clear of so much. */
export const smallPreviewSize = { width: 80, height: 120 };
const minHeight = 96;

export type PreviewPosition = { x: number; y: number };
type Size = { width: number; height: number };
/** How far it stays from each edge of the area. */
export type PreviewInsets = { top: number; right: number; bottom: number; left: number };
/** What it moves within, and how large it is there. */
export type PreviewBounds = { area: Size; insets: PreviewInsets; size: Size };

const clamp = (value: number, from: number, to: number): number => Math.min(Math.max(value, from), Math.max(from, to));

/** How large it is: no more than half as high as what is free. */
export const fitPreviewSize = (area: Size, { top, bottom }: PreviewInsets, isTight: boolean): Size => {
  const most = isTight ? smallPreviewSize : previewSize;
  const height = Math.round(clamp((area.height - top - bottom) / 2, minHeight, most.height));
  return { width: Math.round((height * most.width) / most.height), height };
};

/** Where its upper left corner may be. Where there is too little room for the range, its beginning. */
const toPositionRange = ({ area, insets, size }: PreviewBounds) => ({
  left: insets.left,
  top: insets.top,
  right: Math.max(insets.left, area.width - insets.right - size.width),
  bottom: Math.max(insets.top, area.height - insets.bottom - size.height),
});

/** The nearest spot within the range. */
export const clampPosition = ({ x, y }: PreviewPosition, room: PreviewBounds): PreviewPosition => {
  const range = toPositionRange(room);
  return { x: clamp(x, range.left, range.right), y: clamp(y, range.top, range.bottom) };
};

/** What the other side's picture takes of the height, where it does not fill it. */
export type VideoBand = { top: number; bottom: number };

/** A picture that lies across is as wide as the area and stands in its middle. */
export const toVideoBand = (area: Size, picture: Size): VideoBand | undefined => {
  if (picture.width <= picture.height) return undefined;
  const height = Math.min(area.height, (area.width * picture.height) / picture.width);
  return { top: (area.height - height) / 2, bottom: (area.height + height) / 2 };
};

/** The corner it begins in, at the right: above the controls, or at the top where it covers less of the other's picture. */
export const getInitialPosition = (room: PreviewBounds, band?: VideoBand): PreviewPosition => {
  const { right, top, bottom } = toPositionRange(room);
  const covered = (y: number): number =>
    band ? Math.max(0, Math.min(y + room.size.height, band.bottom) - Math.max(y, band.top)) : 0;
  return { x: right, y: covered(top) < covered(bottom) ? top : bottom };
};

/** The corner after the one it is nearest to, clockwise. */
export const getNextCorner = ({ x, y }: PreviewPosition, room: PreviewBounds): PreviewPosition => {
  const { left, top, right, bottom } = toPositionRange(room);
  const isRight = x > (left + right) / 2;
  const isLow = y > (top + bottom) / 2;
  if (!isLow) return isRight ? { x: right, y: bottom } : { x: right, y: top };
  return isRight ? { x: left, y: bottom } : { x: left, y: top };
};

const stepPx = 24;
const keySteps: Partial<Record<string, PreviewPosition>> = {
  ArrowLeft: { x: -stepPx, y: 0 },
  ArrowRight: { x: stepPx, y: 0 },
  ArrowUp: { x: 0, y: -stepPx },
  ArrowDown: { x: 0, y: stepPx },
};

/** Where a key moves it; undefined for a key that does not. */
export const moveByKey = (key: string, { x, y }: PreviewPosition, room: PreviewBounds): PreviewPosition | undefined => {
  const step = keySteps[key];
  return step && clampPosition({ x: x + step.x, y: y + step.y }, room);
};
