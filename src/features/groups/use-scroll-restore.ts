import { useLayoutEffect, useState } from "react";
import { useNavigationType } from "react-router";
import type { Uuid } from "#contract/ids.ts";

const scrollPositions = new Map<Uuid, number>();

/** Restores the scroll position of a long page when the user navigates back to it. */
export const useScrollRestore = (id: Uuid, isLoaded: boolean) => {
  // State instead of a ref: children render before the container exists and need it afterwards.
  const [scroller, setScroller] = useState<HTMLElement | null>(null);
  const isBack = useNavigationType() === "POP";
  useLayoutEffect(() => {
    if (isBack && isLoaded) scroller?.scrollTo(0, scrollPositions.get(id) ?? 0);
  }, [id, scroller, isBack, isLoaded]);
  const onScroll = () => {
    if (isLoaded && scroller) scrollPositions.set(id, scroller.scrollTop);
  };
  return { scroller, setScroller, onScroll };
};
