const lateTapMs = 700;

/**
 * Takes the tap that was on its way to the button of a form that sent itself: it would land on what has come in its place.
 */
export const suppressLateTap = (button: Pick<DOMRect, "left" | "right" | "top" | "bottom"> | undefined): void => {
  if (!button) return;
  const swallow = (event: MouseEvent) => {
    const { clientX: x, clientY: y } = event;
    // A press by the keyboard has no place, and is meant for what has the focus.
    if (event.detail === 0 || x < button.left || x > button.right || y < button.top || y > button.bottom) return;
    event.preventDefault();
    event.stopPropagation();
  };
  addEventListener("click", swallow, { capture: true });
  setTimeout(() => removeEventListener("click", swallow, { capture: true }), lateTapMs);
};
