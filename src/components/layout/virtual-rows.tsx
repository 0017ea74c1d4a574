import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useRef } from "react";

export type RowListProps = {
  keys: readonly string[];
  label: string;
  /** Height of a row in pixels. */
  getRowHeightPx: () => number;
  children: (index: number) => ReactNode;
};

/**
 * Long list that renders only the rows near the viewport. Its code is loaded on demand; it starts at the given scroll
 * offset.
 */
export default function VirtualRows({
  keys,
  label,
  getRowHeightPx,
  getInitialOffsetPx,
  children,
}: RowListProps & { getInitialOffsetPx: () => number }) {
  const scroller = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: keys.length,
    getScrollElement: () => scroller.current,
    estimateSize: getRowHeightPx,
    initialOffset: getInitialOffsetPx,
    overscan: 8,
    getItemKey: (index) => keys[index] ?? index,
  });
  return (
    <div ref={scroller} className="min-h-0 flex-1 overflow-y-auto overscroll-contain">
      <ul aria-label={label} className="relative" style={{ height: rows.getTotalSize() }}>
        {rows.getVirtualItems().map(({ key, index, start }) => (
          <li
            key={key}
            aria-setsize={keys.length}
            aria-posinset={index + 1}
            className="absolute inset-x-0 top-0"
            style={{ transform: `translateY(${start}px)` }}
          >
            {children(index)}
          </li>
        ))}
      </ul>
    </div>
  );
}
