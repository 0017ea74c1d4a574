const keyboardMinPx = 100; // browser bars are lower

/**
 * Keeps the app above the on-screen keyboard of browsers that lay it over the page, such as Safari on iOS. Others
 * resize the page, as its viewport element asks (`interactive-widget`).
 */
export const followVisibleHeight = (): (() => void) | undefined => {
  const viewport = visualViewport;
  const page = document.documentElement;
  const update = () => {
    const coveredPx = page.clientHeight - (viewport?.height ?? 0);
    const isCovered = viewport?.scale === 1 && coveredPx > keyboardMinPx;
    if (isCovered) page.style.setProperty("--visible-height", `${viewport.height}px`);
    else page.style.removeProperty("--visible-height");
    if (isCovered) scrollTo(0, 0); // the browser has moved the page up, to the focused field
  };
  viewport?.addEventListener("resize", update);
  return () => viewport?.removeEventListener("resize", update);
};
