import { type KeyboardEvent, type MouseEvent, useLayoutEffect, useRef, useState } from "react";
import { Modal } from "./modal.tsx";

export type MenuItem = {
  id: string;
  label: string;
  icon?: string;
  tone?: "danger";
  disabled?: boolean;
  /** Shown instead of the label in a row of quick items. */
  text?: string;
  /** Whether a quick item is chosen. */
  checked?: boolean;
  onSelect: () => void;
};

/** Rectangle in viewport pixels that a menu opens below or above. */
export type MenuAnchor = Pick<DOMRect, "top" | "bottom" | "left" | "right">;

const screenMarginPx = 8;

/** Position next to the anchor if there is space, always within the screen. */
const positionMenu = (
  anchor: MenuAnchor,
  menu: { width: number; height: number },
  screen: { width: number; height: number },
) => {
  const fitsBelow = anchor.bottom + menu.height + screenMarginPx <= screen.height;
  const top = fitsBelow ? anchor.bottom : anchor.top - menu.height;
  const towardsLeft = anchor.right > screen.width / 2;
  const left = towardsLeft ? anchor.right - menu.width : anchor.left;
  return {
    top: Math.max(screenMarginPx, Math.min(top, screen.height - menu.height - screenMarginPx)),
    left: Math.max(screenMarginPx, Math.min(left, screen.width - menu.width - screenMarginPx)),
  };
};

/**
 * Open menu. Arrow keys, Home, End and first letters move the focus; Escape, Tab, the back gesture and a tap outside
 * close it.
 */
export default function MenuPopup(props: {
  label: string;
  /** Row of small items above the others. */
  quickItems?: MenuItem[];
  items: MenuItem[];
  anchor: MenuAnchor;
  onClose: () => void;
}) {
  const { label, quickItems = [], items, anchor, onClose } = props;
  const list = useRef<HTMLDivElement>(null);
  const [position, setPosition] = useState({ top: 0, left: 0 });
  // The finger whose long press opened the menu is lifted over it; that is not a choice.
  const hasPressed = useRef(false);
  useLayoutEffect(() => {
    const box = list.current?.getBoundingClientRect();
    if (box) setPosition(positionMenu(anchor, box, { width: innerWidth, height: innerHeight }));
  }, [anchor]);

  const move = (event: KeyboardEvent) => {
    const enabled = [...(list.current?.querySelectorAll<HTMLElement>("[role^=menuitem]:not([disabled])") ?? [])];
    const focusedIndex = enabled.indexOf(document.activeElement as HTMLElement);
    const startsWith = (from: number) => {
      const order = [...enabled.slice(from), ...enabled.slice(0, from)];
      return order.find((item) => item.textContent?.trim().toLowerCase().startsWith(event.key.toLowerCase()));
    };
    let next: HTMLElement | undefined;
    if (event.key === "ArrowDown" || event.key === "ArrowRight") next = enabled[(focusedIndex + 1) % enabled.length];
    else if (event.key === "ArrowUp" || event.key === "ArrowLeft")
      next = enabled.at(focusedIndex <= 0 ? -1 : focusedIndex - 1);
    else if (event.key === "Home") next = enabled[0];
    else if (event.key === "End") next = enabled.at(-1);
    else if (event.key === "Tab") onClose();
    else if (event.key.length === 1 && event.key !== " ") next = startsWith(focusedIndex + 1);
    else return;
    event.preventDefault();
    next?.focus();
  };

  const select =
    ({ onSelect }: MenuItem) =>
    ({ detail }: MouseEvent) => {
      if (detail > 0 && !hasPressed.current) return;
      onClose();
      onSelect();
    };

  return (
    <Modal
      label={label}
      className="menu-layer fixed inset-0 m-0 size-full max-h-none max-w-none bg-transparent p-0"
      onDismiss={onClose}
    >
      <div
        ref={list}
        role="menu"
        tabIndex={-1}
        aria-label={label}
        className="rise absolute max-h-[calc(100dvh-16px)] min-w-56 max-w-[calc(100vw-16px)] overflow-y-auto rounded-card border border-line bg-surface py-1 text-text shadow-xl"
        style={position}
        onKeyDown={move}
        onPointerDown={() => {
          hasPressed.current = true;
        }}
      >
        {quickItems.length > 0 && (
          <div className="flex justify-between border-b border-line px-1 pb-1">
            {quickItems.map((item) => (
              <button
                key={item.id}
                type="button"
                role="menuitemcheckbox"
                aria-checked={item.checked ?? false}
                aria-label={item.label}
                tabIndex={-1}
                className={`grid size-11 place-items-center rounded-full text-2xl hover:bg-raised focus-visible:bg-raised ${item.checked ? "bg-accent-soft" : ""}`}
                onClick={select(item)}
              >
                {item.text ?? <span className={item.icon} aria-hidden="true" />}
              </button>
            ))}
          </div>
        )}
        {items.map((item, index) => (
          <button
            key={item.id}
            type="button"
            role="menuitem"
            tabIndex={-1}
            data-autofocus={index === 0 ? "" : undefined}
            disabled={item.disabled}
            className={`flex min-h-12 w-full items-center gap-3 px-4 py-1 text-left hover:bg-raised focus-visible:bg-raised disabled:opacity-50 ${item.tone === "danger" ? "text-danger" : ""}`}
            onClick={select(item)}
          >
            {item.icon && <span className={`${item.icon} text-xl`} aria-hidden="true" />}
            <span className="min-w-0 break-words">{item.label}</span>
          </button>
        ))}
      </div>
    </Modal>
  );
}
