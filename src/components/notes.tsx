import { createContext, type ReactNode, useContext, useState } from "react";
import { createPortal } from "react-dom";
import { Toaster } from "./toast";

const NotesPlace = createContext<HTMLElement | null>(null);

/**
 * What is told beside the page, one below the other: toasts, and every `Note`. It stands below the header and the strips
 * above it, and takes no room.
 */
export function Notes({ strips, children }: { strips: ReactNode; children: ReactNode }) {
  const [place, setPlace] = useState<HTMLElement | null>(null);
  return (
    <NotesPlace value={place}>
      {strips}
      <div className="relative z-40 h-0 shrink-0">
        <div className="notes pointer-events-none absolute inset-x-0 flex flex-col items-center px-3">
          <Toaster place="app" />
          <div ref={setPlace} className="contents" />
        </div>
      </div>
      {children}
    </NotesPlace>
  );
}

/** Something that stays longer than a toast: it gives way to one, and is never under it. */
export function Note({ children }: { children: ReactNode }) {
  const place = useContext(NotesPlace);
  return place && createPortal(children, place);
}
