const largePx = 24;

/** Text so large that a phone has no height left for pictures beside it. */
export const isLargeText = (fromPx = largePx): boolean =>
  Number.parseFloat(getComputedStyle(document.documentElement).fontSize) >= fromPx;
