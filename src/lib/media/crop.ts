/** Crop of a picture in a square frame. Positions and distances in the frame are fractions of its side. */
export type Size = { width: number; height: number };
export type Point = { x: number; y: number };
/** Centre of the crop in the picture's pixels, and the zoom factor: 1 fills the frame. */
export type Crop = Point & { zoom: number };
/** Square part of the picture, in its own pixels. */
export type CropSquare = { left: number; top: number; side: number };

export const cropZoomMax = 4;

const clamp = (value: number, min: number, max: number): number => Math.min(Math.max(value, min), max);

const toSidePx = ({ width, height }: Size, zoom: number): number => Math.min(width, height) / zoom;

/** Nearest crop that stays inside the picture. */
const clampCrop = (size: Size, { x, y, zoom }: Crop): Crop => {
  const clampedZoom = clamp(zoom, 1, cropZoomMax);
  const half = toSidePx(size, clampedZoom) / 2;
  return { x: clamp(x, half, size.width - half), y: clamp(y, half, size.height - half), zoom: clampedZoom };
};

/** Initial crop: the largest centred square. */
export const createCenteredCrop = ({ width, height }: Size): Crop => ({ x: width / 2, y: height / 2, zoom: 1 });

/** Crop after dragging the picture across the frame. */
export const moveCrop = (size: Size, crop: Crop, offset: Point): Crop => {
  const side = toSidePx(size, crop.zoom);
  return clampCrop(size, { ...crop, x: crop.x - offset.x * side, y: crop.y - offset.y * side });
};

const frameCenter: Point = { x: 0.5, y: 0.5 };

/** Changes the zoom while keeping the content at `at` in place. */
export const zoomCrop = (size: Size, crop: Crop, zoom: number, at: Point = frameCenter): Crop => {
  const clampedZoom = clamp(zoom, 1, cropZoomMax);
  const growth = toSidePx(size, crop.zoom) - toSidePx(size, clampedZoom);
  return clampCrop(size, {
    x: crop.x + (at.x - frameCenter.x) * growth,
    y: crop.y + (at.y - frameCenter.y) * growth,
    zoom: clampedZoom,
  });
};

export const toCropSquare = (size: Size, crop: Crop): CropSquare => {
  const side = toSidePx(size, crop.zoom);
  return { left: crop.x - side / 2, top: crop.y - side / 2, side };
};

/** Position and size of the whole picture, relative to the frame, that make the frame show the crop. */
export const toImagePlacement = (size: Size, crop: Crop): Size & { left: number; top: number } => {
  const { left, top, side } = toCropSquare(size, crop);
  return { width: size.width / side, height: size.height / side, left: -left / side, top: -top / side };
};
