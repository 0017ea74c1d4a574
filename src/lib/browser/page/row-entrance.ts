/** Lets a row of the conversation list appear 50 ms after the one before it (SPEC.md §2). */
export const animateEntrance = (row: Element, index: number): void => {
  row.animate([{ opacity: 0, transform: "translateY(8px)" }, {}], {
    duration: 220,
    delay: index * 50,
    easing: "ease-out",
    fill: "backwards",
  });
};
