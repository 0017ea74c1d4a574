/** As many files are chosen at a time. */
export const attachedFilesMax = 30;
