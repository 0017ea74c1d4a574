type Box = Pick<DOMRect, "top" | "right" | "bottom" | "left">;

const gapPx = 8;

const isBeside = (card: Box, other: Box): boolean => card.left >= other.right || card.right <= other.left;
const isApart = (card: Box, other: Box): boolean =>
  isBeside(card, other) || card.bottom <= other.top || card.top >= other.bottom;

/**
 * How far down a card goes so that it covers nothing of what has the focus; not at all where it covers nothing, or where
 * it would go below `bottom`.
 */
export const computeShiftDown = (card: Box, focused: Box, bottom: number): number => {
  const shiftPx = focused.bottom + gapPx - card.top;
  return isApart(card, focused) || card.bottom + shiftPx > bottom ? 0 : shiftPx;
};

/**
 * How far up a card goes so that it covers none of these boxes; one that it would have to leave the screen for stays covered,
 * and is given last.
 */
export const computeShiftUp = (card: Box, boxes: readonly Box[]): number => {
  let shiftPx = 0;
  const moved = () => ({ ...card, top: card.top - shiftPx, bottom: card.bottom - shiftPx });
  // Each shift may bring the card over another box.
  for (let round = 0; round <= boxes.length; round++) {
    const covered = boxes.find((box) => !isApart(moved(), box) && box.top - gapPx - (card.bottom - card.top) >= 0);
    if (!covered) break;
    shiftPx = card.bottom - (covered.top - gapPx);
  }
  return shiftPx;
};

const controlSelector = "a[href], button, input, select, textarea";
/** What stands at the end of a page and is always of use: a composer, the button that adds something. */
const pageEndSelector = "[data-page-end]";

/** What has the focus, if something may be typed or pressed there. */
const listFocusedBoxes = (card: HTMLElement): Box[] => {
  const focused = document.activeElement;
  return focused?.matches(controlSelector) && !card.contains(focused) ? [focused.getBoundingClientRect()] : [];
};

const trackFocus = (settle: () => void): (() => void) => {
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

/**
 * Each is a `ref` of what shows over the page for a moment: it leaves in sight the field one types in and the button one
 * pressed, and at the end of the page what always stands there.
 */
export const avoidCoveringFocus = {
  byMovingDown(card: HTMLElement | null): (() => void) | undefined {
    const frame = card?.parentElement; // stands where the card would, and does not rise with it
    if (!card || !frame) return;
    return trackFocus(() => {
      const { top } = frame.getBoundingClientRect();
      const { left, right } = card.getBoundingClientRect();
      const [focused] = listFocusedBoxes(card);
      if (!focused) return;
      const box = { top, left, right, bottom: top + card.offsetHeight };
      card.style.marginTop = `${computeShiftDown(box, focused, visualViewport?.height ?? innerHeight)}px`;
    });
  },
  byMovingUp(card: HTMLElement | null): (() => void) | undefined {
    const frame = card?.parentElement;
    if (!card || !frame) return;
    return trackFocus(() => {
      const { bottom: end } = frame.getBoundingClientRect();
      const { left, right } = card.getBoundingClientRect();
      const bottom = end - gapPx;
      const ends = [...document.querySelectorAll(pageEndSelector)].map((element) => element.getBoundingClientRect());
      const boxes = [...ends, ...listFocusedBoxes(card)].filter((box) => box.bottom > box.top);
      const box = { top: bottom - card.offsetHeight, bottom, left, right };
      card.style.marginBottom = `${gapPx + computeShiftUp(box, boxes)}px`;
    });
  },
};
