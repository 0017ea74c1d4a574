import type { MouseEvent } from "react";

/**
 * Leaves the focus where it is when a right click opens a menu. Otherwise the clicked list would have it, and show its
 * frame once the menu has closed.
 */
export const keepFocusOnRightClick = (event: MouseEvent): void => {
  if (event.button === 2) event.preventDefault();
};
