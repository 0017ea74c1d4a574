import { type KeyboardEvent, type ReactNode, useId, useRef } from "react";
import { CountBadge } from "./count-badge.tsx";

export type TabItem = { id: string; label: string; count?: number; quiet?: boolean; panel: ReactNode };

/** Tabs following the ARIA Authoring Practices: arrow keys move and activate, only the active tab is a tab stop. */
export function Tabs(props: { label: string; items: TabItem[]; value: string; onChange: (id: string) => void }) {
  const { label, items, value, onChange } = props;
  const baseId = useId();
  const list = useRef<HTMLDivElement>(null);
  const active = items.find((item) => item.id === value) ?? items[0];

  const move = (event: KeyboardEvent) => {
    const activeIndex = items.findIndex((item) => item.id === active?.id);
    const targets: Record<string, number> = {
      ArrowRight: (activeIndex + 1) % items.length,
      ArrowLeft: (activeIndex - 1 + items.length) % items.length,
      Home: 0,
      End: items.length - 1,
    };
    const targetIndex = targets[event.key];
    const item = targetIndex === undefined ? undefined : items[targetIndex];
    if (targetIndex === undefined || !item) return;
    event.preventDefault();
    onChange(item.id);
    list.current?.querySelectorAll<HTMLElement>("[role=tab]")[targetIndex]?.focus();
  };

  return (
    <>
      <div
        ref={list}
        role="tablist"
        aria-label={label}
        className="flex flex-wrap border-b border-line"
        onKeyDown={move}
      >
        {items.map((item) => {
          const selected = item.id === active?.id;
          return (
            <button
              key={item.id}
              type="button"
              role="tab"
              id={`${baseId}-tab-${item.id}`}
              aria-selected={selected}
              aria-controls={`${baseId}-panel`}
              tabIndex={selected ? 0 : -1}
              className={`flex min-h-12 flex-1 items-center justify-center gap-2 border-b-3 px-3 font-semibold -outline-offset-3 ${
                selected ? "border-accent text-accent" : "border-transparent text-muted hover:text-text"
              }`}
              onClick={() => onChange(item.id)}
            >
              {item.label}
              {item.count ? <CountBadge count={item.count} quiet={item.quiet ?? false} /> : null}
            </button>
          );
        })}
      </div>
      {active && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a panel without focusable content must be reachable
        <div id={`${baseId}-panel`} role="tabpanel" tabIndex={0} aria-labelledby={`${baseId}-tab-${active.id}`}>
          {active.panel}
        </div>
      )}
    </>
  );
}
