import { type RefObject, useLayoutEffect } from "react";

/** Finds the next element to focus; called after the focused element was removed. */
export type FocusTarget = () => HTMLElement | null | undefined;

/**
 * Moves the focus to another element when an element that contains the focus is removed. `getFocusTarget` is called
 * while the element is still in the document.
 */
export const useFocusHandoff = (
  element: RefObject<HTMLElement | null>,
  getFocusTarget: (element: HTMLElement) => FocusTarget,
): void =>
  useLayoutEffect(
    () => () => {
      const removed = element.current;
      if (!removed?.contains(document.activeElement)) return;
      restoreFocus(getFocusTarget(removed));
    },
    [element, getFocusTarget],
  );

const restoreFocus = (target: FocusTarget): void => {
  queueMicrotask(() => {
    if (document.activeElement === document.body) target()?.focus({ preventScroll: true });
  });
};

/** Restores the focus when an overlay closes and the element that opened it no longer exists. */
export const useRestoreFocus = (target: FocusTarget): void =>
  useLayoutEffect(() => () => restoreFocus(target), [target]);

const findScroller = (element: HTMLElement): HTMLElement | null => element.closest<HTMLElement>("[data-scroller]");

/** Focus target for an element of the list that is not a post: the list itself. */
export const toListFocusTarget = (element: HTMLElement): FocusTarget => {
  const list = findScroller(element);
  return () => list;
};

const findArticle = (item: Element | null | undefined): HTMLElement | null => item?.querySelector("article") ?? null;

/** Focus target for a post: its published version, or else the next post, the previous post, or the list. */
export const toNeighbourFocusTarget = (article: HTMLElement): FocusTarget => {
  const item = article.closest("li");
  const list = findScroller(article);
  const neighbour = findArticle(item?.nextElementSibling) ?? findArticle(item?.previousElementSibling);
  return () => {
    const published = list?.querySelector(`[data-post="${item?.dataset["post"]}"]`);
    return findArticle(published) ?? (neighbour?.isConnected ? neighbour : list);
  };
};
