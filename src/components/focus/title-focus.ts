/** Where the focus goes when what had it is no longer there. */
export const focusTitle = (): void => document.querySelector<HTMLElement>("[role=main] h1")?.focus();

/**
 * For what goes from the page once an answer is here: called at the press, it answers what leads the focus to the title
 * then, unless its person has gone on to something else meanwhile.
 */
export const prepareTitleFocus = (pressed = document.activeElement): (() => void) => {
  return () => {
    if (document.activeElement === pressed) focusTitle();
    else restoreLostFocus();
  };
};

/** After something went from the page: the button that had the focus may have gone with it. */
export const restoreLostFocus = (): void => {
  if (document.activeElement === document.body) focusTitle();
};
