import type { KeyboardEvent } from "react";

const menuButton = "[data-message-menu]";

/** From one message's menu the arrow keys lead to the next; those without a menu are passed over. */
export const moveBetweenMenus = (event: KeyboardEvent): void => {
  if ((event.key !== "ArrowUp" && event.key !== "ArrowDown") || !(event.target instanceof Element)) return;
  const row = event.target.matches(menuButton) ? event.target.closest("li") : null;
  const list = row?.parentElement;
  if (!row || !list) return;
  event.preventDefault();
  const byIndex = [...list.querySelectorAll<HTMLElement>("li[data-index]")].sort(
    (a, b) => Number(a.dataset["index"]) - Number(b.dataset["index"]),
  );
  const at = byIndex.indexOf(row);
  const ahead = event.key === "ArrowDown" ? byIndex.slice(at + 1) : byIndex.slice(0, at).reverse();
  for (const next of ahead) {
    const button = next.querySelector<HTMLElement>(menuButton);
    if (button) {
      button.focus();
      return;
    }
  }
};
