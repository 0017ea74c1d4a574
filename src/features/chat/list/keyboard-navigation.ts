import type { KeyboardEvent } from "react";

const menuButtonSelector = "[data-message-menu]";

const listRowsInOrder = (list: Element): HTMLElement[] =>
  [...list.querySelectorAll<HTMLElement>("li[data-index]")].sort(
    (a, b) => Number(a.dataset["index"]) - Number(b.dataset["index"]),
  );
const getRowKey = (row: HTMLElement): string | undefined => row.dataset["key"];
const findMenuButton = (row: HTMLElement): HTMLElement | null => row.querySelector<HTMLElement>(menuButtonSelector);

/** Where the keyboard goes on once this message has no menu any more: the next message that has one, else the last before it. */
export const findAdjacentMenuKey = (list: Element, key: string): string | undefined => {
  const rows = listRowsInOrder(list);
  const at = rows.findIndex((row) => getRowKey(row) === key);
  const before = at < 0 ? rows : rows.slice(0, at); // one that is gone already was not sent, and so the newest
  const after = at < 0 ? [] : rows.slice(at + 1);
  const found = [...after, ...before.reverse()].find((row) => findMenuButton(row));
  return found && getRowKey(found);
};

/** To the menu of this message, or to the list where it has none. */
export const focusMessageMenu = (list: HTMLElement, key: string | undefined): void => {
  const row = listRowsInOrder(list).find((row) => getRowKey(row) === key);
  ((row && findMenuButton(row)) ?? list).focus({ preventScroll: true });
};

/** From one message's menu the arrow keys lead to the next; those without a menu are passed over. */
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
