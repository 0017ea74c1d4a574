/** Maximum side of a picture in the feed (SPEC.md §9). */
const thumbnailMaxPx = 100;

/** Display size of a picture in the feed, reserved before it is loaded to avoid layout shifts. */
export const toThumbnailSize = ({
  width,
  height,
}: {
  width: number;
  height: number;
}): { width: number; height: number } => {
  const scale = Math.min(1, thumbnailMaxPx / Math.max(width, height));
  return { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) };
};
