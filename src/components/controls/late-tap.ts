const lateTapMs = 700;

/**
 * Suppresses a tap on the button of a form that has just submitted itself: it would hit the element that replaced the
 * button.
 */
export const suppressLateTap = (button: Pick<DOMRect, "left" | "right" | "top" | "bottom"> | undefined): void => {
  if (!button) return;
  const suppress = (event: MouseEvent) => {
    const { clientX: x, clientY: y } = event;
    // A keyboard press has no position and belongs to the focused element.
    if (event.detail === 0 || x < button.left || x > button.right || y < button.top || y > button.bottom) return;
    event.preventDefault();
    event.stopPropagation();
  };
  addEventListener("click", suppress, { capture: true });
  setTimeout(() => removeEventListener("click", suppress, { capture: true }), lateTapMs);
};
