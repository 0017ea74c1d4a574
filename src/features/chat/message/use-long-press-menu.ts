import { type MouseEvent, type PointerEvent, useEffect, useRef } from "react";
import type { MenuAnchor } from "#components/overlays/menu.tsx";

const longPressMs = 450;
const moveTolerancePx = 10; // a finger trembles; further than this it scrolls

const toMenuAnchor = (x: number, y: number): MenuAnchor => ({ left: x, right: x, top: y, bottom: y });

/** Opens a menu by a long press or a right click, wherever in the element it is. */
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
      const from = press.current;
      if (from && Math.hypot(clientX - from.x, clientY - from.y) > moveTolerancePx) end();
    },
    onPointerUp: end,
    onPointerCancel: end,
    /** The lift of the finger that opened the menu is no tap on what lies under it. */
    onClickCapture: (event: MouseEvent) => {
      if (!hasOpened.current) return;
      hasOpened.current = false;
      event.preventDefault();
      event.stopPropagation();
    },
    onContextMenu: (event: MouseEvent) => {
      // What was selected is copied by the browser's own menu.
      const selection = getSelection();
      if (selection && !selection.isCollapsed && selection.containsNode(event.target as Node, true)) return;
      event.preventDefault();
      if (hasOpened.current || press.current) return; // a long press, of which some browsers tell twice
      open(toMenuAnchor(event.clientX, event.clientY));
    },
  };
};
