import { elementScroll, measureElement, type ReactVirtualizer, useVirtualizer } from "@tanstack/react-virtual";
import { type RefObject, useCallback, useLayoutEffect, useRef, useState } from "react";

export const listTopPx = 56; // room above the oldest message for what is said there
const endThresholdPx = 80; // this close to the newest message counts as reading it

const measureDistanceFromEnd = ({ scrollHeight, scrollTop, clientHeight }: Element): number =>
  scrollHeight - scrollTop - clientHeight;
const isNearEnd = (element: Element): boolean => measureDistanceFromEnd(element) <= endThresholdPx;

type AnchoredListOptions = {
  scroller: RefObject<HTMLDivElement | null>;
  count: number;
  /** A look at the past ends before the newest message: its end is not held. */
  isHistoryView: boolean;
  hasNewer: boolean;
  estimateSize: (index: number) => number;
  getKey: (index: number) => string | number;
  getInitialOffset: () => number;
};

/** A list that is read from its end: held there while one stays, and in place wherever else one reads. */
export function useAnchoredList({ scroller, count, isHistoryView, hasNewer, ...props }: AnchoredListOptions) {
  const list = useRef<ReactVirtualizer<HTMLDivElement, Element>>(undefined);
  const wasNearEnd = useRef(true);
  const lastTop = useRef(0);
  const isMovedUp = useRef(false);
  const firstSeen = useRef<number>(undefined);
  const heightPx = useRef(0);
  const expected = useRef({ widthPx: 0, sizes: new Map<string | number, number>() });
  // Looked for at an event, and before the list moves itself: then an event tells of both, and of neither for itself.
  const lookForMoveUp = () => {
    const element = scroller.current;
    if (!element) return;
    // A list that is just being made longer or shorter is scrolled by that, and one that has less below it too.
    const isResized = element.clientHeight !== heightPx.current;
    isMovedUp.current ||= !isResized && element.scrollTop < lastTop.current && measureDistanceFromEnd(element) > 1;
    lastTop.current = element.scrollTop;
  };
  if (list.current && scroller.current) {
    // A page may arrive between a scroll and its event: what is held in place must be what is in sight now.
    if (list.current.options.count !== count) {
      list.current.scrollOffset = scroller.current.scrollTop;
      wasNearEnd.current = isNearEnd(scroller.current);
    }
    lookForMoveUp();
  }
  const virtualizer = useVirtualizer<HTMLDivElement, Element>({
    count,
    getScrollElement: () => scroller.current,
    scrollToFn: (offset, options, instance) => {
      lookForMoveUp();
      elementScroll(offset, options, instance);
      // Further down it is no move of the reader's; further up it leaves the end as they would.
      lastTop.current = Math.max(lastTop.current, scroller.current?.scrollTop ?? 0);
    },
    // What is expected of a row stands until it is measured, though its message is withdrawn meanwhile: a measured
    // change can be held in place, another guess at what is above would push what is read.
    estimateSize: (index) => {
      const widthPx = scroller.current?.clientWidth ?? 0;
      if (widthPx !== expected.current.widthPx) expected.current = { widthPx, sizes: new Map() };
      const { sizes } = expected.current;
      const key = props.getKey(index);
      const size = sizes.get(key) ?? props.estimateSize(index);
      sizes.set(key, size);
      return size;
    },
    measureElement: (element, entry, instance) => {
      const size = measureElement(element, entry, instance);
      const key = props.getKey(instance.indexFromElement(element));
      // One as high as expected is not noted by the library: what happens to it later would count as its first measure.
      if (expected.current.sizes.get(key) === size && !instance.itemSizeCache.has(key))
        instance.itemSizeCache.set(key, size);
      return size;
    },
    // Starts where one will look, so that nothing else is drawn first.
    initialOffset: props.getInitialOffset,
    getItemKey: props.getKey,
    anchorTo: "end",
    followOnAppend: !hasNewer,
    scrollEndThreshold: endThresholdPx,
    paddingStart: listTopPx,
    paddingEnd: 12,
    overscan: 8,
    directDomUpdates: true,
  });
  list.current = virtualizer;
  // What changes its height above the fold must not push what is read, whichever way one scrolls. One that is half
  // above it grows where one reads it, but what follows does not go after one that grows short.
  virtualizer.shouldAdjustScrollPositionOnItemSizeChange = (item, delta, { itemSizeCache, scrollOffset }) =>
    (itemSizeCache.has(item.key) && delta > 0 ? item.end : item.start + 1) <= (scrollOffset ?? 0);

  // What holds is in a ref: a scroll event may come before what was set is drawn.
  const [isAtEnd, setDrawn] = useState(!isHistoryView);
  const atEnd = useRef(isAtEnd);
  const isLast = useRef(!hasNewer);
  isLast.current = !hasNewer;
  const holdsEnd = useCallback(() => atEnd.current && isLast.current, []);
  const setAtEnd = (isThere: boolean) => {
    atEnd.current = isThere;
    setDrawn(isThere);
  };
  /** Brings a message into sight; the end is held no longer. */
  const goTo = useCallback(
    (index: number) => {
      atEnd.current = false;
      setDrawn(false);
      virtualizer.scrollToIndex(index, { align: "center" });
    },
    [virtualizer],
  );
  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element) return;
    if (holdsEnd()) virtualizer.scrollToEnd();
    let width = element.clientWidth;
    heightPx.current = element.clientHeight;
    const observer = new ResizeObserver(() => {
      const isTurned = element.clientWidth !== width;
      width = element.clientWidth;
      heightPx.current = element.clientHeight;
      // A keyboard or a growing composer makes the list shorter: who was at the end stays there.
      if (holdsEnd()) virtualizer.scrollToEnd();
      // On a phone that was turned all rows have other heights: who read further up goes on where they were.
      else if (isTurned && firstSeen.current !== undefined)
        virtualizer.scrollToIndex(firstSeen.current, { align: "start" });
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [virtualizer, scroller, holdsEnd]);

  // Whoever leaves the end moves up. What only proved higher than it was expected to be is followed.
  const onScroll = (element: Element) => {
    const isNear = isNearEnd(element);
    lookForMoveUp();
    const isLeft = isMovedUp.current;
    isMovedUp.current = false;
    firstSeen.current = virtualizer.getVirtualItemForOffset(element.scrollTop)?.index;
    if (!isNear && !isLeft && holdsEnd()) virtualizer.scrollToEnd();
    else setAtEnd(isNear);
  };

  // Messages also come in above the newest one: before those of mine that were still waiting to be sent.
  // biome-ignore lint/correctness/useExhaustiveDependencies: whenever there are more or fewer
  useLayoutEffect(() => {
    if (holdsEnd() && wasNearEnd.current) virtualizer.scrollToEnd();
  }, [virtualizer, count]);

  return { virtualizer, isAtEnd, goTo, onScroll };
}
