const freshMs = 5 * 60_000;

/** Whether a file was made just now: a photo of the camera app or a pasted picture may exist nowhere else. */
export const isFreshFile = ({ lastModified }: Pick<File, "lastModified">): boolean =>
  Date.now() - lastModified < freshMs;
