// @unocss-include – the classes below are used, and UnoCSS scans only component files by default.

const startPx = 12; // a shorter movement may become a tap or a scroll
const actionPx = 72;
const offsetMaxPx = 112;
const edgePx = 24; // swipes from the edges of the screen belong to the browser

type Point = { clientX: number; clientY: number };
type SwipeSide = "left" | "right";

/** Horizontal swipe on a row of the list. A movement that is more vertical than horizontal is a scroll. */
export class RowSwipe {
  readonly #start: Point;
  #state: "waiting" | "swiping" | "ended" = "waiting";
  #dx = 0;

  constructor(start: Point, screenWidth: number) {
    this.#start = start;
    if (start.clientX < edgePx || start.clientX > screenWidth - edgePx) this.#state = "ended";
  }

  /** Offset of the row in pixels after a movement; undefined if this is no swipe, or not yet. */
  move({ clientX, clientY }: Point): number | undefined {
    const [dx, dy] = [clientX - this.#start.clientX, Math.abs(clientY - this.#start.clientY)];
    if (this.#state === "waiting" && Math.max(Math.abs(dx), dy) >= startPx)
      this.#state = Math.abs(dx) > 2 * dy ? "swiping" : "ended";
    if (this.#state !== "swiping") return undefined;
    this.#dx = dx;
    return Math.max(-offsetMaxPx, Math.min(offsetMaxPx, dx));
  }

  /** Side to which the row was moved far enough for its action. */
  get side(): SwipeSide | undefined {
    if (this.#state !== "swiping" || Math.abs(this.#dx) < actionPx) return undefined;
    return this.#dx > 0 ? "right" : "left";
  }
}

export type SwipeAction = { icon: string; run: () => void };

/** Shows the action of a swipe on the part of the list that the moved row uncovers, which is too narrow for a text. */
const showAction = (hint: HTMLElement, { icon }: SwipeAction, offset: number, isReached: boolean): void => {
  hint.className = `absolute inset-0 flex items-center bg-accent-soft px-6 text-accent ${offset > 0 ? "justify-start" : "justify-end"} ${isReached ? "" : "opacity-60"}`;
  const symbol = document.createElement("span");
  symbol.className = `${icon} text-2xl`;
  hint.replaceChildren(symbol);
};

/** Follows a finger on a row, and runs an action if it is lifted after a swipe to that side. */
export const trackRowSwipe = (
  row: HTMLElement,
  down: PointerEvent,
  actions: Readonly<Record<SwipeSide, SwipeAction>>,
): void => {
  const swipe = new RowSwipe(down, innerWidth);
  const hint = document.createElement("span");
  hint.setAttribute("aria-hidden", "true");
  const listening = new AbortController();
  let reached: SwipeSide | undefined;
  const end = () => {
    listening.abort();
    row.style.transform = "";
    hint.remove();
  };
  const onMove = (event: PointerEvent) => {
    if (event.pointerId !== down.pointerId) return end(); // a second finger
    const offset = swipe.move(event);
    if (offset === undefined) return;
    if (!hint.isConnected) row.before(hint);
    row.style.transform = `translateX(${offset}px)`;
    showAction(hint, actions[offset > 0 ? "right" : "left"], offset, swipe.side !== undefined);
    if (swipe.side && swipe.side !== reached) navigator.vibrate?.(10);
    reached = swipe.side;
  };
  const onUp = (event: PointerEvent) => {
    const side = event.pointerId === down.pointerId ? swipe.side : undefined;
    end();
    if (side) actions[side].run();
  };
  document.addEventListener("pointermove", onMove, { signal: listening.signal });
  document.addEventListener("pointerup", onUp, { signal: listening.signal });
  document.addEventListener("pointercancel", end, { signal: listening.signal });
};
