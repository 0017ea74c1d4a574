import { fileMaxPixels, pictureEdgePx, pictureMaxBytes } from "#contract/limits.ts";
import { drawInTurn } from "./image-worker-client.ts";
import { MediaRefusal } from "./outgoing-file.ts";
import { countPixels } from "./prepare-attachment.ts";

/**
 * A picture for a status: drawn anew, so that it is small and nothing the camera noted travels with it; what moves
 * stands still. Throws a MediaRefusal, "unreadable" for what is no picture.
 */
export const preparePostPicture = async (file: Blob) => {
  if (file.size === 0) throw new MediaRefusal("empty");
  const pixels = await countPixels(file);
  if (!pixels) throw new MediaRefusal("unreadable");
  if (pixels > fileMaxPixels) throw new MediaRefusal("tooManyPixels");
  const drawn = await drawInTurn(file, true, pictureEdgePx).catch(() => undefined);
  if (!drawn?.small) throw new MediaRefusal("unreadable");
  const { blob, width, height } = drawn.small;
  if (blob.size > pictureMaxBytes) throw new MediaRefusal("tooLarge");
  return { blob, width, height, thumb: drawn.thumb };
};
