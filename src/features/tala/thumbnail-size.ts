/** SPEC.md §9: a picture in the feed is shown at most so large. */
const thumbnailMaxPx = 100;

/** The room of a picture in the feed: it is there before the picture is, so that nothing moves when it comes. */
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
