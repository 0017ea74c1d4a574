import { type ReactNode, useRef, useState } from "react";
import { useVisibleRows } from "./use-visible-rows.ts";

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
  const [rowHeightPx] = useState(getRowHeightPx);
  const [initialOffsetPx] = useState(getInitialOffsetPx);
  const rows = useVisibleRows({ scroller, count: keys.length, rowHeightPx, initialOffsetPx });
  return (
    <div ref={scroller} className="min-h-0 flex-1 overflow-y-auto overscroll-contain">
      <ul aria-label={label} className="relative" style={{ height: rows.totalHeightPx }}>
        {rows.indexes.map((index) => (
          <li
            key={keys[index]}
            aria-setsize={keys.length}
            aria-posinset={index + 1}
            className="absolute inset-x-0 top-0"
            style={{ transform: `translateY(${index * rowHeightPx}px)` }}
          >
            {children(index)}
          </li>
        ))}
      </ul>
    </div>
  );
}
