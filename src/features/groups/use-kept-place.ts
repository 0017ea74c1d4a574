import { useLayoutEffect, useRef } from "react";
import { useNavigationType } from "react-router";
import type { Uuid } from "../../../contract/ids";

const places = new Map<Uuid, number>();

/** Who comes back to a long page, from somebody's profile, finds it as far down as it was left. */
export const useKeptPlace = (id: Uuid, isFilled: boolean) => {
  const scroller = useRef<HTMLDivElement>(null);
  const isBack = useNavigationType() === "POP";
  useLayoutEffect(() => {
    if (isBack && isFilled) scroller.current?.scrollTo(0, places.get(id) ?? 0);
  }, [id, isBack, isFilled]);
  const onScroll = () => {
    if (isFilled) places.set(id, scroller.current?.scrollTop ?? 0);
  };
  return { scroller, onScroll };
};
