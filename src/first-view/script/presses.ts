const ignoredAfterSendMs = 600; // the second tap of a double tap on "send" does not record

/**
 * Marks the button pressed last, which does nothing yet, so that the app repeats the press. `hasText`: whether the
 * submit button sends, and need not be repeated.
 */
export const createPresses = (view: HTMLElement, hasText: () => boolean) => {
  let sentAtMs = Number.NEGATIVE_INFINITY;
  const forget = () => {
    for (const pressed of view.querySelectorAll("[data-early]")) pressed.removeAttribute("data-early");
  };
  view.addEventListener("click", ({ target, timeStamp }) => {
    const button = target instanceof Element && target.closest("button");
    if (!button) return;
    const isSubmit = button.type === "submit";
    if (isSubmit && timeStamp - sentAtMs < ignoredAfterSendMs && !hasText()) return;
    forget();
    if (!isSubmit || !hasText()) button.dataset["early"] = "";
  });
  return {
    forget,
    noteSent: () => {
      sentAtMs = performance.now();
    },
  };
};
