type Box = Pick<DOMRect, "top" | "right" | "bottom" | "left">;

const gapPx = 8;

/**
 * How far down a card goes so that it covers nothing of what has the focus; not at all where it covers nothing, or where
 * it would go below `bottom`.
 */
export const shiftOff = (card: Box, focused: Box, bottom: number): number => {
  const isBeside = card.left >= focused.right || card.right <= focused.left;
  const isAbove = card.bottom <= focused.top || card.top >= focused.bottom;
  const shiftPx = focused.bottom + gapPx - card.top;
  return isBeside || isAbove || card.bottom + shiftPx > bottom ? 0 : shiftPx;
};

const controls = "a[href], button, input, select, textarea";

/** As a `ref` of what shows over the page for a moment: it leaves in sight the field one types in, the button one pressed. */
export const keepOffFocus = (card: HTMLElement | null): (() => void) | undefined => {
  const frame = card?.parentElement; // stands where the card would, and does not rise with it
  if (!card || !frame) return;
  const settle = () => {
    const focused = document.activeElement;
    if (!focused?.matches(controls) || card.contains(focused)) return;
    const { top } = frame.getBoundingClientRect();
    const { left, right } = card.getBoundingClientRect();
    const box = { top, left, right, bottom: top + card.offsetHeight };
    const bottom = visualViewport?.height ?? innerHeight;
    card.style.marginTop = `${shiftOff(box, focused.getBoundingClientRect(), bottom)}px`;
  };
  // The page is scrolled to what takes the focus, and a keyboard may come up.
  const settleSoon = () => requestAnimationFrame(settle);
  settle();
  document.addEventListener("focusin", settleSoon);
  visualViewport?.addEventListener("resize", settleSoon);
  return () => {
    document.removeEventListener("focusin", settleSoon);
    visualViewport?.removeEventListener("resize", settleSoon);
  };
};
