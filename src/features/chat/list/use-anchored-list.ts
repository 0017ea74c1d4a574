import { elementScroll, measureElement, type ReactVirtualizer, useVirtualizer } from "@tanstack/react-virtual";
import { type RefObject, useCallback, useEffectEvent, useLayoutEffect, useRef, useState } from "react";

export const listTopPx = 56; // height of the area above the oldest message
const endThresholdPx = 80; // this close to the end counts as being at the end

const measureDistanceFromEnd = ({ scrollHeight, scrollTop, clientHeight }: Element): number =>
  scrollHeight - scrollTop - clientHeight;
const isNearEnd = (element: Element): boolean => measureDistanceFromEnd(element) <= endThresholdPx;

type AnchoredListOptions = {
  scroller: RefObject<HTMLDivElement | null>;
  count: number;
  /** A history window ends before the newest message, so it is not anchored to its end. */
  isHistoryView: boolean;
  hasNewer: boolean;
  estimateSize: (index: number) => number;
  getKey: (index: number) => string | number;
  /** Whether the user is expanding the text of a row. */
  isExpanding: (key: string | number | bigint) => boolean;
  /** Row to show first; without one the list opens at its end. */
  firstRow: number | undefined;
};

/** Virtual list anchored to its end while the user is there; elsewhere it keeps the visible rows in place. */
export function useAnchoredList({ scroller, count, isHistoryView, hasNewer, ...props }: AnchoredListOptions) {
  const list = useRef<ReactVirtualizer<HTMLDivElement, Element>>(undefined);
  const wasNearEnd = useRef(true);
  const lastTop = useRef(0);
  const hasMovedUp = useRef(false);
  const firstVisibleIndex = useRef<number>(undefined);
  const heightPx = useRef(0);
  const estimates = useRef({ widthPx: 0, sizes: new Map<string | number, number>() });
  // Checked at every scroll event, and before each programmatic scroll: one event may report both kinds of movement.
  const detectMoveUp = () => {
    const element = scroller.current;
    if (!element) return;
    // Resizing the list, or removing content below, scrolls it without the user.
    const isResized = element.clientHeight !== heightPx.current;
    hasMovedUp.current ||= !isResized && element.scrollTop < lastTop.current && measureDistanceFromEnd(element) > 1;
    lastTop.current = element.scrollTop;
  };
  // A page may arrive between a scroll and its event: anchor to the rows that are visible now. Read while rendering, when
  // the position has to be known: the library finds its anchor in `useVirtualizer`, and the commit changes the height.
  if (list.current && scroller.current && list.current.options.count !== count) {
    list.current.scrollOffset = scroller.current.scrollTop;
    wasNearEnd.current = isNearEnd(scroller.current);
  }
  useLayoutEffect(detectMoveUp); // before the scrolls of `useVirtualizer`
  // Keep the estimate of a row until it is measured, even if its message is deleted meanwhile: a measured change can be
  // compensated, whereas a new estimate above the visible rows would move them.
  const estimateSize = (index: number): number => {
    const widthPx = scroller.current?.clientWidth ?? 0;
    if (widthPx !== estimates.current.widthPx) estimates.current = { widthPx, sizes: new Map() };
    const { sizes } = estimates.current;
    const key = props.getKey(index);
    const size = sizes.get(key) ?? props.estimateSize(index);
    sizes.set(key, size);
    return size;
  };
  const estimateOffset = (row: number): number => {
    let offsetPx = listTopPx;
    for (let index = 0; index < row; index++) offsetPx += estimateSize(index);
    return offsetPx;
  };
  const virtualizer = useVirtualizer<HTMLDivElement, Element>({
    count,
    getScrollElement: () => scroller.current,
    scrollToFn: (offset, options, instance) => {
      detectMoveUp();
      elementScroll(offset, options, instance);
      // A programmatic scroll down is no user movement; one up leaves the end as the user would.
      lastTop.current = Math.max(lastTop.current, scroller.current?.scrollTop ?? 0);
    },
    estimateSize,
    measureElement: (element, entry, instance) => {
      const size = measureElement(element, entry, instance);
      const key = props.getKey(instance.indexFromElement(element));
      // The library does not cache a size equal to the estimate, and would treat the next change as the first
      // measurement.
      if (estimates.current.sizes.get(key) === size && !instance.itemSizeCache.has(key))
        instance.itemSizeCache.set(key, size);
      return size;
    },
    // The first render already has the rows of the initial position: React may interrupt it, unlike one that follows
    // the measuring of the list.
    initialRect: { width: 0, height: window.innerHeight },
    initialOffset: () =>
      props.firstRow === undefined ? estimateOffset(count) - window.innerHeight : estimateOffset(props.firstRow),
    getItemKey: props.getKey,
    anchorTo: "end",
    followOnAppend: !hasNewer,
    scrollEndThreshold: endThresholdPx,
    paddingStart: listTopPx,
    paddingEnd: 12,
    overscan: 8,
    directDomUpdates: true,
  });
  useLayoutEffect(() => {
    list.current = virtualizer;
  }, [virtualizer]);
  // Compensate size changes above the rows that are read. Below a row that fills the list nothing is read, and a text
  // that the user expands grows downwards.
  virtualizer.shouldAdjustScrollPositionOnItemSizeChange = (item, delta, { itemSizeCache, scrollOffset }) => {
    const top = scrollOffset ?? 0;
    if (item.start + 1 > top) return false;
    const isGrowing = itemSizeCache.has(item.key) && delta > 0;
    return !isGrowing || (item.end <= top + (scroller.current?.clientHeight ?? 0) && !props.isExpanding(item.key));
  };

  // Also kept in a ref: a scroll event may come before the state is rendered.
  const [isAtEnd, setAtEndState] = useState(!isHistoryView);
  const atEnd = useRef(isAtEnd);
  const isAnchored = () => atEnd.current && !hasNewer;
  /** Scrolls to the end if the list is anchored there; returns whether it is. */
  const followEnd = useEffectEvent((): boolean => {
    const isFollowing = isAnchored();
    if (isFollowing) virtualizer.scrollToEnd();
    return isFollowing;
  });
  const setAtEnd = (isThere: boolean) => {
    atEnd.current = isThere;
    setAtEndState(isThere);
  };
  /** Scrolls to a row and releases the anchor at the end. */
  const scrollToRow = useCallback(
    (index: number) => {
      atEnd.current = false;
      setAtEndState(false);
      virtualizer.scrollToIndex(index, { align: "center" });
    },
    [virtualizer],
  );
  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element) return;
    followEnd();
    let width = element.clientWidth;
    heightPx.current = element.clientHeight;
    const observer = new ResizeObserver(() => {
      const isRotated = element.clientWidth !== width;
      width = element.clientWidth;
      heightPx.current = element.clientHeight;
      // An on-screen keyboard or a growing composer shrinks the list: stay at the end.
      if (followEnd()) return;
      // Rotating the device changes all row heights: restore the first visible row.
      if (isRotated && firstVisibleIndex.current !== undefined)
        virtualizer.scrollToIndex(firstVisibleIndex.current, { align: "start" });
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [virtualizer, scroller]);

  // Only scrolling up leaves the end. If rows just turned out higher than estimated, follow the end.
  const onScroll = (element: Element) => {
    const isNear = isNearEnd(element);
    detectMoveUp();
    const hasLeftEnd = hasMovedUp.current;
    hasMovedUp.current = false;
    firstVisibleIndex.current = virtualizer.getVirtualItemForOffset(element.scrollTop)?.index;
    if (!isNear && !hasLeftEnd && isAnchored()) virtualizer.scrollToEnd();
    else setAtEnd(isNear);
  };

  // Messages may also be inserted above the newest one: before own messages that are still being sent.
  const scrolledCount = useRef(count);
  useLayoutEffect(() => {
    if (scrolledCount.current === count) return;
    scrolledCount.current = count;
    if (wasNearEnd.current) followEnd();
  }, [count]);

  /** Notices the end after `scrollToRow` without a movement: no scroll event comes then. */
  const detectEnd = useCallback(() => {
    if (!scroller.current) return;
    const isThere = isNearEnd(scroller.current);
    atEnd.current = isThere;
    setAtEndState(isThere);
  }, [scroller]);

  return { virtualizer, isAtEnd, scrollToRow, detectEnd, onScroll };
}
