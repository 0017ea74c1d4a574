// @unocss-include – the icon below is a CSS class, and UnoCSS scans only component files by default.

const startPx = 12; // a shorter movement may become a tap or a scroll
const replyPx = 48;
const offsetMaxPx = 64;
const edgePx = 24; // swipes from the edge of the screen belong to the browser

type Point = { clientX: number; clientY: number };

/** Swipe to the right on a message. A movement that is more vertical than horizontal is a scroll. */
export class SwipeGesture {
  readonly #start: Point;
  #state: "waiting" | "swiping" | "ended" = "waiting";
  #dx = 0;

  constructor(start: Point) {
    this.#start = start;
    if (start.clientX < edgePx) this.#state = "ended";
  }

  /** Offset of the message in pixels after a movement; undefined if this is no swipe, or not yet. */
  move({ clientX, clientY }: Point): number | undefined {
    const [dx, dy] = [clientX - this.#start.clientX, Math.abs(clientY - this.#start.clientY)];
    if (this.#state === "waiting" && Math.max(Math.abs(dx), dy) >= startPx)
      this.#state = dx > 2 * dy ? "swiping" : "ended";
    if (this.#state !== "swiping") return undefined;
    this.#dx = dx;
    return Math.max(0, Math.min(offsetMaxPx, dx));
  }

  /** Whether a release now starts a reply. */
  get isReply(): boolean {
    return this.#state === "swiping" && this.#dx >= replyPx;
  }
}

/** Follows a finger on a message, and calls `onReply` if it is lifted after a swipe to the right. */
export const trackSwipe = (element: HTMLElement, down: PointerEvent, onReply: () => void): void => {
  const gesture = new SwipeGesture(down);
  const icon = document.createElement("span");
  icon.className =
    "i-ph-arrow-bend-up-left absolute top-1/2 right-full mr-3 [transform:translateY(-50%)] text-xl text-accent";
  const listening = new AbortController();
  let wasReply = false;
  const end = () => {
    listening.abort();
    element.style.transform = "";
    icon.remove();
  };
  const options = { signal: listening.signal };
  const onMove = (event: PointerEvent) => {
    if (event.pointerId !== down.pointerId) return end(); // a second finger
    const offset = gesture.move(event);
    if (offset === undefined) return;
    if (!icon.isConnected) element.append(icon);
    element.style.transform = `translateX(${offset}px)`;
    icon.style.opacity = gesture.isReply ? "1" : "0.5";
    if (gesture.isReply && !wasReply) navigator.vibrate?.(10);
    wasReply = gesture.isReply;
  };
  const onUp = (event: PointerEvent) => {
    const isReply = event.pointerId === down.pointerId && gesture.isReply;
    end();
    if (isReply) onReply();
  };
  document.addEventListener("pointermove", onMove, options);
  document.addEventListener("pointerup", onUp, options);
  document.addEventListener("pointercancel", end, options);
};
