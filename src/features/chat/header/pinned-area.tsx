import { type ReactNode, useLayoutEffect, useRef } from "react";
import { pinnedAreaClasses } from "#components/messages/pinned-area-classes.ts";

/** Place of the pinned messages above the list. The messages stay where they are when it comes or goes. */
export function PinnedArea({ children }: { children: ReactNode }) {
  const area = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const list = area.current?.parentElement?.querySelector(".overflow-y-auto");
    const heightPx = area.current?.offsetHeight ?? 0;
    if (!list) return;
    list.scrollTop += heightPx;
    return () => {
      list.scrollTop -= heightPx;
    };
  }, []);
  return (
    <div ref={area} className={pinnedAreaClasses}>
      {children}
    </div>
  );
}
