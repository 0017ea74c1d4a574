import type { PointerEvent } from "react";

/** Elements that use a horizontal drag themselves. */
const draggable = "input, [role=slider]";

/** Handler that starts a reply when a finger swipes a message to the right. Its code is loaded with the first touch. */
export const useSwipeReply = (onReply: (() => void) | undefined) => {
  if (!onReply) return undefined;
  return ({ pointerType, isPrimary, currentTarget, target, nativeEvent }: PointerEvent<HTMLElement>) => {
    if (pointerType !== "touch" || !isPrimary || (target as Element).closest(draggable)) return;
    import("./swipe-gesture.ts").then(
      ({ trackSwipe }) => trackSwipe(currentTarget, nativeEvent, onReply),
      () => {}, // offline: the menu replies as well
    );
  };
};
