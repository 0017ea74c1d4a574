import { fileMaxPixels } from "#contract/limits/files.ts";
import { pictureEdgePx, pictureMaxBytes } from "#contract/limits/tala.ts";
import { queueResize } from "./image-worker-client.ts";
import { MediaError } from "./outgoing-file.ts";
import { readPixelCount } from "./prepare-attachment.ts";

/**
 * Picture of a status, re-encoded to be small and free of camera metadata; animations become still. Throws
 * `MediaError`, "unreadable" if the file is not a picture.
 */
export const preparePostPicture = async (file: Blob) => {
  if (file.size === 0) throw new MediaError("empty");
  const pixels = await readPixelCount(file);
  if (!pixels) throw new MediaError("unreadable");
  if (pixels > fileMaxPixels) throw new MediaError("tooManyPixels");
  const resized = await queueResize(file, true, pictureEdgePx).catch(() => undefined);
  if (!resized?.small) throw new MediaError("unreadable");
  const { blob, width, height } = resized.small;
  if (blob.size > pictureMaxBytes) throw new MediaError("tooLarge");
  return { blob, width, height, thumb: resized.thumb };
};
