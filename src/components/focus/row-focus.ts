import { focusTitle } from "./title-focus.ts";

const stops = "a[href], button:not(:disabled)";

const rowsOf = (list: HTMLElement): HTMLElement[] => [...list.querySelectorAll("li")];

/** What took a button's place in its row, or the row itself where that has nothing to press. */
const focusIn = (row: HTMLElement): void => (row.querySelector<HTMLElement>(stops) ?? row).focus();

/**
 * As a `ref` around lists whose rows (`<li tabIndex={-1}>`) come and go with what is pressed in them: when the
 * button that had the focus goes, the focus stays in its row. With a row that goes it passes to the next one as a
 * whole, since a second press of the key must not answer for somebody else; after the last, to the tab of the lists.
 */
export const holdFocus = (lists: HTMLElement | null): (() => void) | undefined => {
  if (!lists) return;
  let held: { element: Element; row: HTMLElement; index: number } | undefined;
  const onFocusIn = ({ target }: FocusEvent): void => {
    const row = target instanceof Element ? target.closest("li") : null;
    held = target instanceof Element && row ? { element: target, row, index: rowsOf(lists).indexOf(row) } : undefined;
  };
  const observer = new MutationObserver(() => {
    if (!held || held.element.isConnected || document.activeElement !== document.body) return;
    const { row, index } = held;
    if (row.isConnected) return focusIn(row);
    const rows = rowsOf(lists);
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
