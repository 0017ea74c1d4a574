import { type ReactNode, useRef, useState } from "react";
import { useVisibleRows } from "./use-visible-rows.ts";

export type RowListProps = {
  keys: readonly string[];
  label: string;
  /** Content above the rows, which scrolls with them. */
  lead?: ReactNode;
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
  lead,
  getRowHeightPx,
  getInitialOffsetPx,
  children,
}: RowListProps & { getInitialOffsetPx: () => number }) {
  const scroller = useRef<HTMLDivElement>(null);
  const [rowHeightPx] = useState(getRowHeightPx);
  const [initialOffsetPx] = useState(getInitialOffsetPx);
  const list = useRef<HTMLUListElement>(null);
  const rows = useVisibleRows({ scroller, list, count: keys.length, rowHeightPx, initialOffsetPx });
  return (
    <div ref={scroller} className="relative min-h-0 flex-1 overflow-y-auto overscroll-contain">
      {lead}
      <ul ref={list} aria-label={label} className="relative" style={{ height: rows.totalHeightPx }}>
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
