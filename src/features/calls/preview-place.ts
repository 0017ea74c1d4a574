/** The local preview of a video call (SPEC.md §9): 128×192 px, moved within what the controls leave free. */
export const previewSize = { width: 128, height: 192 };

export type Spot = { x: number; y: number };
export type Area = { width: number; height: number };
/** How far it stays from each edge of the area. */
export type Insets = { top: number; right: number; bottom: number; left: number };

const between = (value: number, from: number, to: number): number =>
  Math.min(Math.max(value, from), Math.max(from, to));

/** Where its upper left corner may be. Where there is too little room for the range, its beginning. */
const rangeOf = (area: Area, insets: Insets) => ({
  left: insets.left,
  top: insets.top,
  right: Math.max(insets.left, area.width - insets.right - previewSize.width),
  bottom: Math.max(insets.top, area.height - insets.bottom - previewSize.height),
});

/** The nearest spot within the range. */
export const keepWithin = ({ x, y }: Spot, area: Area, insets: Insets): Spot => {
  const range = rangeOf(area, insets);
  return { x: between(x, range.left, range.right), y: between(y, range.top, range.bottom) };
};

/** The corner it begins in: above the controls, at the right. */
export const firstSpot = (area: Area, insets: Insets): Spot => {
  const { right, bottom } = rangeOf(area, insets);
  return { x: right, y: bottom };
};

/** The corner after the one it is nearest to, clockwise. */
export const nextCorner = ({ x, y }: Spot, area: Area, insets: Insets): Spot => {
  const { left, top, right, bottom } = rangeOf(area, insets);
  const isRight = x > (left + right) / 2;
  const isLow = y > (top + bottom) / 2;
  if (!isLow) return isRight ? { x: right, y: bottom } : { x: right, y: top };
  return isRight ? { x: left, y: bottom } : { x: left, y: top };
};

const stepPx = 24;
const steps: Partial<Record<string, Spot>> = {
  ArrowLeft: { x: -stepPx, y: 0 },
  ArrowRight: { x: stepPx, y: 0 },
  ArrowUp: { x: 0, y: -stepPx },
  ArrowDown: { x: 0, y: stepPx },
};

/** Where a key moves it; undefined for a key that does not. */
export const moveByKey = (key: string, { x, y }: Spot, area: Area, insets: Insets): Spot | undefined => {
  const step = steps[key];
  return step && keepWithin({ x: x + step.x, y: y + step.y }, area, insets);
};
