/** What of a picture is shown in a square frame. Places in the frame, and ways across it, are in parts of its side. */
export type Size = { width: number; height: number };
export type Point = { x: number; y: number };
/** The middle of what is cut out, in the picture's own pixels, and how much it is enlarged: at 1 it fills the frame. */
export type Crop = Point & { zoom: number };
/** A square of the picture, in its own pixels. */
export type Cut = { left: number; top: number; side: number };

export const zoomMax = 4;

const clamp = (value: number, min: number, max: number): number => Math.min(Math.max(value, min), max);

const sideOf = ({ width, height }: Size, zoom: number): number => Math.min(width, height) / zoom;

/** The nearest that shows nothing but picture. */
const keepInside = (size: Size, { x, y, zoom }: Crop): Crop => {
  const kept = clamp(zoom, 1, zoomMax);
  const half = sideOf(size, kept) / 2;
  return { x: clamp(x, half, size.width - half), y: clamp(y, half, size.height - half), zoom: kept };
};

/** What a picture begins with: as much of its middle as a square holds. */
export const middleOf = ({ width, height }: Size): Crop => ({ x: width / 2, y: height / 2, zoom: 1 });

/** The picture drawn across the frame. */
export const dragBy = (size: Size, crop: Crop, way: Point): Crop => {
  const side = sideOf(size, crop.zoom);
  return keepInside(size, { ...crop, x: crop.x - way.x * side, y: crop.y - way.y * side });
};

const frameMiddle: Point = { x: 0.5, y: 0.5 };

/** Larger or smaller, while what is seen at `at` stays there. */
export const zoomTo = (size: Size, crop: Crop, zoom: number, at: Point = frameMiddle): Crop => {
  const kept = clamp(zoom, 1, zoomMax);
  const grown = sideOf(size, crop.zoom) - sideOf(size, kept);
  return keepInside(size, {
    x: crop.x + (at.x - frameMiddle.x) * grown,
    y: crop.y + (at.y - frameMiddle.y) * grown,
    zoom: kept,
  });
};

export const toCut = (size: Size, crop: Crop): Cut => {
  const side = sideOf(size, crop.zoom);
  return { left: crop.x - side / 2, top: crop.y - side / 2, side };
};

/** Where the whole picture lies so that the frame shows the cut. */
export const toPlacement = (size: Size, crop: Crop): Size & { left: number; top: number } => {
  const { left, top, side } = toCut(size, crop);
  return { width: size.width / side, height: size.height / side, left: -left / side, top: -top / side };
};
