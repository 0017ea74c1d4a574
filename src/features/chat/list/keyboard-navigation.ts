import type { KeyboardEvent } from "react";

const menuButtonSelector = "[data-message-menu]";

const listRowsInOrder = (list: Element): HTMLElement[] =>
  [...list.querySelectorAll<HTMLElement>("li[data-index]")].sort(
    (a, b) => Number(a.dataset["index"]) - Number(b.dataset["index"]),
  );
const getRowKey = (row: HTMLElement): string | undefined => row.dataset["key"];
const findMenuButton = (row: HTMLElement): HTMLElement | null => row.querySelector<HTMLElement>(menuButtonSelector);

/** Key of the message that gets the focus after this one lost its menu: the next one with a menu, else the previous. */
export const findAdjacentMenuKey = (list: Element, key: string): string | undefined => {
  const rows = listRowsInOrder(list);
  const at = rows.findIndex((row) => getRowKey(row) === key);
  const before = at < 0 ? rows : rows.slice(0, at); // a message already gone was unsent, and so the newest
  const after = at < 0 ? [] : rows.slice(at + 1);
  const found = [...after, ...before.reverse()].find((row) => findMenuButton(row));
  return found && getRowKey(found);
};

/** Focuses the menu button of a message, or the list if it has none. */
export const focusMessageMenu = (list: HTMLElement, key: string | undefined): void => {
  const row = listRowsInOrder(list).find((row) => getRowKey(row) === key);
  ((row && findMenuButton(row)) ?? list).focus({ preventScroll: true });
};

/** Moves the focus with the arrow keys between message menus, skipping messages without one. */
export const handleMenuArrowKey = (event: KeyboardEvent): void => {
  if ((event.key !== "ArrowUp" && event.key !== "ArrowDown") || !(event.target instanceof Element)) return;
  const row = event.target.matches(menuButtonSelector) ? event.target.closest("li") : null;
  const list = row?.parentElement;
  if (!row || !list) return;
  event.preventDefault();
  const rows = listRowsInOrder(list);
  const at = rows.indexOf(row);
  const ahead = event.key === "ArrowDown" ? rows.slice(at + 1) : rows.slice(0, at).reverse();
  ahead
    .map(findMenuButton)
    .find((button) => button !== null)
    ?.focus();
};
