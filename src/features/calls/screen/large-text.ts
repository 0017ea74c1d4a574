const largePx = 24;

/** Whether text is so large that a phone has no height left for avatars beside it. */
export const isLargeText = (fromPx = largePx): boolean =>
  Number.parseFloat(getComputedStyle(document.documentElement).fontSize) >= fromPx;
