import { focusTitle } from "./title-focus.ts";

const rowControlSelector = "a[href], button:not(:disabled)";

const listRows = (list: HTMLElement): HTMLElement[] => [...list.querySelectorAll("li")];

/** What took a button's place in its row, or the row itself where that has nothing to press. */
const focusInsideRow = (row: HTMLElement): void => (row.querySelector<HTMLElement>(rowControlSelector) ?? row).focus();

/**
 * As a `ref` around lists whose rows (`<li tabIndex={-1}>`) come and go with what is pressed in them: when the
 * button that had the focus goes, the focus stays in its row. With a row that goes it passes to the next one as a
 * whole, since a second press of the key must not answer for somebody else; after the last, to the tab of the lists.
 */
export const keepFocusInRows = (lists: HTMLElement | null): (() => void) | undefined => {
  if (!lists) return;
  let held: { element: Element; row: HTMLElement; index: number } | undefined;
  const onFocusIn = ({ target }: FocusEvent): void => {
    const row = target instanceof Element ? target.closest("li") : null;
    held = target instanceof Element && row ? { element: target, row, index: listRows(lists).indexOf(row) } : undefined;
  };
  const observer = new MutationObserver(() => {
    if (!held || held.element.isConnected || document.activeElement !== document.body) return;
    const { row, index } = held;
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
