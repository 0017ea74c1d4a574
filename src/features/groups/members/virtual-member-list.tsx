import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useLayoutEffect, useRef, useState } from "react";
import type { GroupMemberView } from "./member-view.ts";

type VirtualMemberListProps = {
  members: GroupMemberView[];
  label: string;
  /** Scroll container around the list. */
  scroller: HTMLElement | null;
  children: (member: GroupMemberView) => ReactNode;
};

const estimatedRowPx = 65;

/** Virtualized list for large groups: only rows near the viewport are rendered. Loaded on demand. */
export default function VirtualMemberList({ members, label, scroller, children }: VirtualMemberListProps) {
  const list = useRef<HTMLUListElement>(null);
  const [offsetTop, setOffsetTop] = useState(0);
  // The content above the list may change its height at any render, for example a notice or a longer name.
  useLayoutEffect(() => {
    if (!scroller || !list.current) return;
    const px = list.current.getBoundingClientRect().top - scroller.getBoundingClientRect().top + scroller.scrollTop;
    setOffsetTop(Math.round(px));
  });
  const virtualizer = useVirtualizer({
    count: members.length,
    getScrollElement: () => scroller,
    estimateSize: () => estimatedRowPx,
    initialOffset: () => scroller?.scrollTop ?? 0, // the container may already be scrolled
    scrollMargin: offsetTop,
    overscan: 8,
    getItemKey: (index) => members[index]?.number ?? index,
  });
  return (
    <ul ref={list} aria-label={label} className="relative" style={{ height: virtualizer.getTotalSize() }}>
      {virtualizer.getVirtualItems().map(({ key, index, start }) => {
        const member = members[index];
        return (
          member && (
            <li
              key={key}
              ref={virtualizer.measureElement}
              data-index={index}
              aria-setsize={members.length}
              aria-posinset={index + 1}
              className="absolute inset-x-0 top-0"
              style={{ transform: `translateY(${start - offsetTop}px)` }}
            >
              {children(member)}
            </li>
          )
        );
      })}
    </ul>
  );
}
