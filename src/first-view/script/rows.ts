import { animateEntrance } from "#lib/browser/page/row-entrance.ts";
import { flashMessageKey } from "#lib/session/flash-message.ts";

/** In a snapshot of another day "14:05" and "Today" have become dates. */
export const showDates = (view: HTMLElement): void => {
  const { day } = view.dataset;
  if (!day || day === new Date().toDateString()) return;
  for (const element of view.querySelectorAll<HTMLElement>("[data-at]"))
    element.textContent = new Date(Number(element.dataset["at"])).toLocaleDateString(document.documentElement.lang);
};

/** Rounds heights to whole pixels, as the app's virtual list measures its rows. */
export const fixRowHeights = (rows: readonly HTMLElement[]): void => {
  for (const row of rows) row.style.height = "";
  const heights = rows.map((row) => row.getBoundingClientRect().height);
  rows.forEach((row, index) => {
    row.style.height = `${Math.round(heights[index] ?? 0)}px`;
  });
};

/** After a sign-in the list is new to the eye: its rows enter one by one. */
export const animateRows = (view: HTMLElement): void => {
  const isStill =
    document.documentElement.matches("[data-look~=still]") || matchMedia("(prefers-reduced-motion)").matches;
  if (isStill || !sessionStorage[flashMessageKey]) return;
  for (const [index, row] of view.querySelectorAll("[data-rows] > li > div").entries()) animateEntrance(row, index);
};
