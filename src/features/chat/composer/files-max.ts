/** As many files are chosen at a time. */
export const filesMax = 30;
