import { type RefObject, useLayoutEffect } from "react";

/** Where the focus goes: asked once the part is gone. */
export type Heir = () => HTMLElement | null | undefined;

/**
 * When a part of the page goes that has the focus, whoever made it go, the focus is passed on. `findHeir` is asked while
 * the part still stands.
 */
export const usePassedFocus = (part: RefObject<HTMLElement | null>, findHeir: (part: HTMLElement) => Heir): void =>
  useLayoutEffect(
    () => () => {
      const leaving = part.current;
      if (!leaving?.contains(document.activeElement)) return;
      give(findHeir(leaving));
    },
    [part, findHeir],
  );

const give = (heir: Heir): void => {
  queueMicrotask(() => {
    if (document.activeElement === document.body) heir()?.focus({ preventScroll: true });
  });
};

/** As long as something stands before the page: what it gives the focus back to may have gone meanwhile. */
export const useHeir = (heir: Heir): void => useLayoutEffect(() => () => give(heir), [heir]);

const listAround = (part: HTMLElement): HTMLElement | null => part.closest<HTMLElement>("[data-scroller]");

/** The list itself, for what stands in it and is no entry. */
export const passToList = (part: HTMLElement): Heir => {
  const list = listAround(part);
  return () => list;
};

const articleOf = (item: Element | null | undefined): HTMLElement | null => item?.querySelector("article") ?? null;

/** What waited and is published by now, or else the next entry, the one before, or the list. */
export const passToNeighbour = (article: HTMLElement): Heir => {
  const item = article.closest("li");
  const list = listAround(article);
  const neighbour = articleOf(item?.nextElementSibling) ?? articleOf(item?.previousElementSibling);
  return () => {
    const same = list?.querySelector(`[data-post="${item?.dataset["post"]}"]`);
    return articleOf(same) ?? (neighbour?.isConnected ? neighbour : list);
  };
};
