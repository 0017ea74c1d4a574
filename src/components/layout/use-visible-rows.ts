import { type RefObject, useLayoutEffect, useRef, useState } from "react";

const overscanRows = 8;
/** The range moves in steps of this many rows, so that not every row scrolled by renders the list again. */
const stepRows = 4;

type VisibleRowsOptions = {
  /** Positioned scroll container, with the first row at its top. */
  scroller: RefObject<HTMLElement | null>;
  /** Element of the rows, if other content stands above it in the container. */
  list?: RefObject<HTMLElement | null>;
  count: number;
  rowHeightPx: number;
  /** Scroll offset of the first render. */
  initialOffsetPx?: number;
};

/** Rows to render at a scroll offset from the first row, in a container of some height. All in pixels. */
const toRange = (offsetPx: number, heightPx: number, rowHeightPx: number) => {
  const top = Math.floor(Math.max(0, offsetPx) / rowHeightPx / stepRows) * stepRows;
  const rows = Math.ceil(heightPx / rowHeightPx / stepRows) * stepRows + stepRows;
  return { first: Math.max(0, top - overscanRows), end: top + rows + overscanRows };
};

/** Rows of equal height to render: those in the viewport and some around it. `end` is exclusive. */
export function useVisibleRows({ scroller, list, count, rowHeightPx, initialOffsetPx = 0 }: VisibleRowsOptions) {
  const offsetPx = useRef(initialOffsetPx);
  // The height of the container is unknown before the first layout.
  const [range, setRange] = useState(() => toRange(initialOffsetPx, innerHeight, rowHeightPx));

  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element) return;
    // A list that was hidden may have lost its position.
    if (element.scrollTop !== offsetPx.current) element.scrollTop = offsetPx.current;
    const update = () => {
      if (element.clientHeight === 0) return; // hidden
      offsetPx.current = element.scrollTop;
      const listOffsetPx = offsetPx.current - (list?.current?.offsetTop ?? 0);
      const next = toRange(listOffsetPx, element.clientHeight, rowHeightPx);
      setRange((last) => (last.first === next.first && last.end === next.end ? last : next));
    };
    update();
    const observer = new ResizeObserver(update);
    observer.observe(element);
    element.addEventListener("scroll", update, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", update);
    };
  }, [scroller, list, rowHeightPx]);

  const end = Math.min(range.end, count);
  const first = Math.min(range.first, end);
  return {
    end,
    indexes: Array.from({ length: end - first }, (_, offset) => first + offset),
    totalHeightPx: count * rowHeightPx,
  };
}
