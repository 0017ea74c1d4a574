/** Where the focus goes when what had it is no longer there. */
export const focusTitle = (): void => document.querySelector<HTMLElement>("[role=main] h1")?.focus();

/** After something went from the page: the button that had the focus may have gone with it. */
export const keepFocus = (): void => {
  if (document.activeElement === document.body) focusTitle();
};
