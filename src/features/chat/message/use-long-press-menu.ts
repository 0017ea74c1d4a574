import { type MouseEvent, type PointerEvent, useEffect, useRef } from "react";
import type { MenuAnchor } from "#components/overlays/menu.tsx";

const longPressMs = 450;
const moveTolerancePx = 10; // tolerates a trembling finger; further movement is a scroll

const toMenuAnchor = (x: number, y: number): MenuAnchor => ({ left: x, right: x, top: y, bottom: y });

/** Event handlers that open a menu at the pointer on a long press or a right click. */
export const useLongPressMenu = (open: ((anchor: MenuAnchor) => void) | undefined) => {
  const press = useRef<{ timer: ReturnType<typeof setTimeout>; x: number; y: number }>(undefined);
  const hasOpened = useRef(false);
  const end = () => {
    clearTimeout(press.current?.timer);
    press.current = undefined;
  };
  useEffect(() => () => clearTimeout(press.current?.timer), []);
  if (!open) return {};
  return {
    onPointerDown: (event: PointerEvent) => {
      hasOpened.current = false;
      if (event.pointerType !== "touch" || !event.isPrimary) {
        end(); // a second finger
        return;
      }
      const { clientX: x, clientY: y } = event;
      const timer = setTimeout(() => {
        press.current = undefined;
        hasOpened.current = true;
        navigator.vibrate?.(10);
        open(toMenuAnchor(x, y));
      }, longPressMs);
      press.current = { timer, x, y };
    },
    onPointerMove: ({ clientX, clientY }: PointerEvent) => {
      const start = press.current;
      if (start && Math.hypot(clientX - start.x, clientY - start.y) > moveTolerancePx) end();
    },
    onPointerUp: end,
    onPointerCancel: end,
    /** Suppresses the click when the finger that opened the menu is lifted. */
    onClickCapture: (event: MouseEvent) => {
      if (!hasOpened.current) return;
      hasOpened.current = false;
      event.preventDefault();
      event.stopPropagation();
    },
    onContextMenu: (event: MouseEvent) => {
      // Selected text keeps the context menu of the browser, for copying.
      const selection = getSelection();
      if (selection && !selection.isCollapsed && selection.containsNode(event.target as Node, true)) return;
      event.preventDefault();
      if (hasOpened.current || press.current) return; // some browsers also fire contextmenu after a long press
      open(toMenuAnchor(event.clientX, event.clientY));
    },
  };
};
