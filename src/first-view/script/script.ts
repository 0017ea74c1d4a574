import { firstViewId } from "#contract/wire/document/document-names.ts";
import { startComposer } from "./composer.ts";
import { keepForOwner } from "./owner.ts";
import { animateRows, fixRowHeights, showDates } from "./rows.ts";

/**
 * Inline script of a first view: what a person can do before the app has loaded. It is part of every document that the
 * Worker draws, so it imports little (`?script` in `src/prerender/app-shell.ts`).
 */
const start = (view: HTMLElement): void => {
  if (!keepForOwner(view)) return;
  document.getElementById("root")?.setAttribute("inert", "");
  requestAnimationFrame(() =>
    setTimeout(() => {
      view.dataset["painted"] = ""; // shows the icons
    }),
  );
  showDates(view);
  fixRowHeights([...view.querySelectorAll<HTMLElement>("#first-scroller li")]);
  animateRows(view);
  startComposer(view);
};

const view = document.getElementById(firstViewId);
if (view?.firstChild) start(view);
