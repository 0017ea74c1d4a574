import { fileMaxPixels, pictureEdgePx, pictureMaxBytes } from "#contract/limits.ts";
import { queueResize } from "./image-worker-client.ts";
import { MediaError } from "./outgoing-file.ts";
import { readPixelCount } from "./prepare-attachment.ts";

/**
 * A picture for a status: drawn anew, so that it is small and nothing the camera noted travels with it; what moves
 * stands still. Throws a MediaRefusal, "unreadable" for what is no picture.
 */
export const preparePostPicture = async (file: Blob) => {
  if (file.size === 0) throw new MediaError("empty");
  const pixels = await readPixelCount(file);
  if (!pixels) throw new MediaError("unreadable");
  if (pixels > fileMaxPixels) throw new MediaError("tooManyPixels");
  const drawn = await queueResize(file, true, pictureEdgePx).catch(() => undefined);
  if (!drawn?.small) throw new MediaError("unreadable");
  const { blob, width, height } = drawn.small;
  if (blob.size > pictureMaxBytes) throw new MediaError("tooLarge");
  return { blob, width, height, thumb: drawn.thumb };
};
