import { createContext, type ReactNode, useContext, useState } from "react";
import { createPortal } from "react-dom";
import { Toaster } from "./toast.tsx";

const PageNoticeContext = createContext<HTMLElement | null>(null);

/**
 * Container of notices over the page, without layout space of its own: each `PageNotice` below the header and the
 * strips above it, toasts at the page's end above the tab bar.
 */
export function PageNotices({ strips, children }: { strips: ReactNode; children: ReactNode }) {
  const [place, setPlace] = useState<HTMLElement | null>(null);
  return (
    <PageNoticeContext value={place}>
      {strips}
      <div className="relative z-40 h-0 shrink-0">
        <div className="notes pointer-events-none absolute inset-x-0 flex flex-col items-center px-3">
          <div ref={setPlace} className="contents" />
        </div>
      </div>
      {children}
      <div className="pointer-events-none relative z-40 h-0 shrink-0">
        <Toaster place="app" />
      </div>
    </PageNoticeContext>
  );
}

/** Notice that stays longer than a toast. */
export function PageNotice({ children }: { children: ReactNode }) {
  const place = useContext(PageNoticeContext);
  return place && createPortal(children, place);
}
