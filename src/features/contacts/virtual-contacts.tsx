import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useRef } from "react";
import type { PersonRow } from "../../sync/store";
import { contactRowPx } from "./contact-row";

type VirtualContactsProps = { contacts: PersonRow[]; label: string; children: (contact: PersonRow) => ReactNode };

/** A long list: only the rows near the screen exist. Fetched when somebody has that many contacts. */
export default function VirtualContacts({ contacts, label, children }: VirtualContactsProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: contacts.length,
    getScrollElement: () => scroller.current,
    estimateSize: contactRowPx,
    overscan: 8,
    getItemKey: (index) => contacts[index]?.id ?? index,
  });
  return (
    <div ref={scroller} className="min-h-0 flex-1 overflow-y-auto overscroll-contain">
      <ul aria-label={label} className="relative" style={{ height: rows.getTotalSize() }}>
        {rows.getVirtualItems().map(({ key, index, start }) => {
          const contact = contacts[index];
          return (
            contact && (
              <li
                key={key}
                aria-setsize={contacts.length}
                aria-posinset={index + 1}
                className="absolute inset-x-0 top-0"
                style={{ transform: `translateY(${start}px)` }}
              >
                {children(contact)}
              </li>
            )
          );
        })}
      </ul>
    </div>
  );
}
