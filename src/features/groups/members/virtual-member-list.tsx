import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useLayoutEffect, useRef, useState } from "react";
import type { GroupMemberView } from "./member-view.ts";

type VirtualMemberListProps = {
  members: GroupMemberView[];
  label: string;
  /** What scrolls; the list is a part of it. */
  scroller: HTMLElement | null;
  children: (member: GroupMemberView) => ReactNode;
};

const estimatedRowPx = 65;

/** A long list: only the lines near the screen exist. Fetched when a group has that many members. */
export default function VirtualMemberList({ members, label, scroller, children }: VirtualMemberListProps) {
  const list = useRef<HTMLUListElement>(null);
  const [above, setAbove] = useState(0);
  // What stands above may have changed at any rendering: a notice, a longer name.
  useLayoutEffect(() => {
    if (!scroller || !list.current) return;
    const px = list.current.getBoundingClientRect().top - scroller.getBoundingClientRect().top + scroller.scrollTop;
    setAbove(Math.round(px));
  });
  const rows = useVirtualizer({
    count: members.length,
    getScrollElement: () => scroller,
    estimateSize: () => estimatedRowPx,
    initialOffset: () => scroller?.scrollTop ?? 0, // one may be far down in the first of them already
    scrollMargin: above,
    overscan: 8,
    getItemKey: (index) => members[index]?.number ?? index,
  });
  return (
    <ul ref={list} aria-label={label} className="relative" style={{ height: rows.getTotalSize() }}>
      {rows.getVirtualItems().map(({ key, index, start }) => {
        const member = members[index];
        return (
          member && (
            <li
              key={key}
              ref={rows.measureElement}
              data-index={index}
              aria-setsize={members.length}
              aria-posinset={index + 1}
              className="absolute inset-x-0 top-0"
              style={{ transform: `translateY(${start - above}px)` }}
            >
              {children(member)}
            </li>
          )
        );
      })}
    </ul>
  );
}
