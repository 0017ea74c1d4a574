/** Focuses the page title, for when the focused element was removed. */
export const focusTitle = (): void => document.querySelector<HTMLElement>("[role=main] h1")?.focus();

/**
 * Prepares moving the focus to the title after a request whose answer removes the pressed element. The returned
 * function does nothing if the person has moved the focus elsewhere in the meantime.
 */
export const prepareTitleFocus = (pressedElement = document.activeElement): (() => void) => {
  return () => {
    if (document.activeElement === pressedElement) focusTitle();
    else restoreLostFocus();
  };
};

/** Focuses the title if the focused button was removed with other content. */
export const restoreLostFocus = (): void => {
  if (document.activeElement === document.body) focusTitle();
};
