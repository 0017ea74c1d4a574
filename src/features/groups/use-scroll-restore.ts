import { useLayoutEffect, useState } from "react";
import { useNavigationType } from "react-router";
import type { Uuid } from "#contract/ids.ts";

const scrollPositions = new Map<Uuid, number>();

/** Who comes back to a long page, from somebody's profile, finds it as far down as it was left. */
export const useScrollRestore = (id: Uuid, isFilled: boolean) => {
  // As a state: what is inside must hear of it, and is drawn before it.
  const [scroller, setScroller] = useState<HTMLElement | null>(null);
  const isBack = useNavigationType() === "POP";
  useLayoutEffect(() => {
    if (isBack && isFilled) scroller?.scrollTo(0, scrollPositions.get(id) ?? 0);
  }, [id, scroller, isBack, isFilled]);
  const onScroll = () => {
    if (isFilled && scroller) scrollPositions.set(id, scroller.scrollTop);
  };
  return { scroller, setScroller, onScroll };
};
