import { focusTitle } from "./title-focus.ts";

const rowControlSelector = "a[href], button:not(:disabled)";

const listRows = (list: HTMLElement): HTMLElement[] => [...list.querySelectorAll("li")];

/** Focuses the first control of the row, or the row itself if it has none. */
const focusInsideRow = (row: HTMLElement): void => (row.querySelector<HTMLElement>(rowControlSelector) ?? row).focus();

/**
 * Ref for lists whose rows (`<li tabIndex={-1}>`) change when their buttons are pressed. If the focused button
 * disappears, the focus stays in its row. If the row disappears, the next row gets the focus as a whole, so that a
 * second key press does not act on another person; after the last row, the selected tab gets it.
 */
export const keepFocusInRows = (lists: HTMLElement | null): (() => void) | undefined => {
  if (!lists) return;
  let lastFocus: { element: Element; row: HTMLElement; index: number } | undefined;
  const onFocusIn = ({ target }: FocusEvent): void => {
    const row = target instanceof Element ? target.closest("li") : null;
    lastFocus =
      target instanceof Element && row ? { element: target, row, index: listRows(lists).indexOf(row) } : undefined;
  };
  const observer = new MutationObserver(() => {
    if (!lastFocus || lastFocus.element.isConnected || document.activeElement !== document.body) return;
    const { row, index } = lastFocus;
    if (row.isConnected) return focusInsideRow(row);
    const rows = listRows(lists);
    const next = rows[index] ?? rows.at(-1) ?? lists.querySelector<HTMLElement>("[role=tab][aria-selected=true]");
    if (next) next.focus();
    else focusTitle();
  });
  lists.addEventListener("focusin", onFocusIn);
  observer.observe(lists, { childList: true, subtree: true });
  return () => {
    lists.removeEventListener("focusin", onFocusIn);
    observer.disconnect();
  };
};
