import { type RefObject, useLayoutEffect } from "react";

/** Where the focus goes: asked once the part is gone. */
export type FocusTarget = () => HTMLElement | null | undefined;

/**
 * When a part of the page goes that has the focus, whoever made it go, the focus is passed on. `findHeir` is asked while
 * the part still stands.
 */
export const useFocusHandoff = (
  part: RefObject<HTMLElement | null>,
  findHeir: (part: HTMLElement) => FocusTarget,
): void =>
  useLayoutEffect(
    () => () => {
      const leaving = part.current;
      if (!leaving?.contains(document.activeElement)) return;
      restoreFocus(findHeir(leaving));
    },
    [part, findHeir],
  );

const restoreFocus = (heir: FocusTarget): void => {
  queueMicrotask(() => {
    if (document.activeElement === document.body) heir()?.focus({ preventScroll: true });
  });
};

/** As long as something stands before the page: what it gives the focus back to may have gone meanwhile. */
export const useRestoreFocus = (heir: FocusTarget): void => useLayoutEffect(() => () => restoreFocus(heir), [heir]);

const findScroller = (part: HTMLElement): HTMLElement | null => part.closest<HTMLElement>("[data-scroller]");

/** The list itself, for what stands in it and is no entry. */
export const toListFocusTarget = (part: HTMLElement): FocusTarget => {
  const list = findScroller(part);
  return () => list;
};

const findArticle = (item: Element | null | undefined): HTMLElement | null => item?.querySelector("article") ?? null;

/** What waited and is published by now, or else the next entry, the one before, or the list. */
export const toNeighbourFocusTarget = (article: HTMLElement): FocusTarget => {
  const item = article.closest("li");
  const list = findScroller(article);
  const neighbour = findArticle(item?.nextElementSibling) ?? findArticle(item?.previousElementSibling);
  return () => {
    const same = list?.querySelector(`[data-post="${item?.dataset["post"]}"]`);
    return findArticle(same) ?? (neighbour?.isConnected ? neighbour : list);
  };
};
