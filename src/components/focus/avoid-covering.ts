type Box = Pick<DOMRect, "top" | "right" | "bottom" | "left">;

const gapPx = 8;

const isBeside = (card: Box, other: Box): boolean => card.left >= other.right || card.right <= other.left;
const isApart = (card: Box, other: Box): boolean =>
  isBeside(card, other) || card.bottom <= other.top || card.top >= other.bottom;

/**
 * Distance in pixels to move a card down so that it does not cover the focused element. 0 if nothing is covered or if
 * the card would end below `bottom`.
 */
export const computeShiftDown = (card: Box, focused: Box, bottom: number): number => {
  const shiftPx = focused.bottom + gapPx - card.top;
  return isApart(card, focused) || card.bottom + shiftPx > bottom ? 0 : shiftPx;
};

/**
 * Distance in pixels to move a card up so that it covers none of the boxes. A box that would push the card off the
 * screen stays covered.
 */
export const computeShiftUp = (card: Box, boxes: readonly Box[]): number => {
  let shiftPx = 0;
  const moved = () => ({ ...card, top: card.top - shiftPx, bottom: card.bottom - shiftPx });
  // Each shift may move the card over another box.
  for (let round = 0; round <= boxes.length; round++) {
    const coveredBox = boxes.find((box) => !isApart(moved(), box) && box.top - gapPx - (card.bottom - card.top) >= 0);
    if (!coveredBox) break;
    shiftPx = card.bottom - (coveredBox.top - gapPx);
  }
  return shiftPx;
};

const controlSelector = "a[href], button, input, select, textarea";
/** Elements at the end of a page that must stay usable, such as the message composer. */
const pageEndSelector = "[data-page-end]";
/** Newest message of a chat. */
const newestSelector = "[data-newest]";

/** Box of the focused control. Undefined if no control is focused, or one inside the card. */
const findFocusedBox = (card: HTMLElement): Box | undefined => {
  const focused = document.activeElement;
  return focused?.matches(controlSelector) && !card.contains(focused) ? focused.getBoundingClientRect() : undefined;
};

/** Box of the visible part of an element in a scrolling list. */
const findVisibleBox = (element: Element): Box => {
  const { top, right, bottom, left } = element.getBoundingClientRect();
  const list = element.closest(".overflow-y-auto")?.getBoundingClientRect();
  return { top: Math.max(top, list?.top ?? top), right, bottom: Math.min(bottom, list?.bottom ?? bottom), left };
};

const listVisibleBoxes = (selector: string): Box[] =>
  [...document.querySelectorAll(selector)].map(findVisibleBox).filter(({ top, bottom }) => bottom > top);

/**
 * Runs an update at once and before each frame, until the returned function is called: a card shown for seconds must
 * follow another page, a new message, a growing composer and an on-screen keyboard.
 */
const updateEachFrame = (update: () => void): (() => void) => {
  let frame = 0;
  const run = () => {
    update();
    frame = requestAnimationFrame(run);
  };
  run();
  return () => cancelAnimationFrame(frame);
};

/**
 * Ref callbacks for toasts. They keep the focused control uncovered and, at the bottom of the page, its controls and the
 * newest message.
 */
export const avoidCovering = {
  byMovingDown(card: HTMLElement | null): (() => void) | undefined {
    const frame = card?.parentElement; // has the card's original position and does not move with it
    if (!card || !frame) return;
    return updateEachFrame(() => {
      const { top } = frame.getBoundingClientRect();
      const { left, right } = card.getBoundingClientRect();
      const focused = findFocusedBox(card);
      const box = { top, left, right, bottom: top + card.offsetHeight };
      const shiftPx = focused ? computeShiftDown(box, focused, visualViewport?.height ?? innerHeight) : 0;
      card.style.marginTop = `${shiftPx}px`;
    });
  },
  byMovingUp(card: HTMLElement | null): (() => void) | undefined {
    const frame = card?.parentElement;
    if (!card || !frame) return;
    return updateEachFrame(() => {
      const { bottom: frameBottom } = frame.getBoundingClientRect();
      const { left, right } = card.getBoundingClientRect();
      const bottom = frameBottom - gapPx;
      const focused = findFocusedBox(card);
      const boxes = [...listVisibleBoxes(`${pageEndSelector}, ${newestSelector}`), ...(focused ? [focused] : [])];
      const box = { top: bottom - card.offsetHeight, bottom, left, right };
      card.style.marginBottom = `${gapPx + computeShiftUp(box, boxes)}px`;
    });
  },
};
