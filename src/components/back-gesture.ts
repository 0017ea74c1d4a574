type Leave = () => void;

/** What lies over the page and asks to be left first, the topmost last. */
const layers: Leave[] = [];

/**
 * The way back that a person takes leaves the topmost layer instead of the page below it, as a phone's back gesture does
 * with a dialog. Where nobody touched the page since, the browser lets them go.
 */
const onNavigate = (event: NavigateEvent): void => {
  const { navigationType, userInitiated, cancelable, destination } = event;
  const isBack = navigationType === "traverse" && destination.index < (navigation.currentEntry?.index ?? 0);
  if (!isBack || !userInitiated || !cancelable) return;
  event.preventDefault();
  layers.at(-1)?.();
};

/** Until the function is called that it gives back. Browsers without `navigation` go back. */
export const takeBack = (leave: Leave): (() => void) => {
  if (!("navigation" in globalThis)) return () => {};
  if (layers.length === 0) navigation.addEventListener("navigate", onNavigate);
  layers.push(leave);
  return () => {
    layers.splice(layers.lastIndexOf(leave), 1);
    if (layers.length === 0) navigation.removeEventListener("navigate", onNavigate);
  };
};
