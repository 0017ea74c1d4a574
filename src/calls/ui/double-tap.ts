const doubleTapMs = 700; // longer than a usual double tap, because taps are slow while the screen is being drawn
const sameSpotPx = 64; // maximum distance of the two taps of a double tap

type Press = Pick<MouseEvent, "timeStamp" | "clientX" | "clientY">;

/** Time of the press that accepted the call. Uses event timestamps, because a busy phone delivers events late. */
let acceptedAt = Number.NEGATIVE_INFINITY;
let isHangUpAwaited = false;

/** Records the press that accepted a call; the hang-up button will appear in its place. */
export const recordAccept = ({ timeStamp }: Pick<Press, "timeStamp">): void => {
  acceptedAt = timeStamp;
  isHangUpAwaited = true;
};

/**
 * Records that the hang-up button is about to be drawn. A person who saw no reaction to the first tap may tap again
 * just then.
 */
export const recordHangUpShown = (): void => {
  if (!isHangUpAwaited) return;
  isHangUpAwaited = false;
  acceptedAt = Number.POSITIVE_INFINITY;
  const drawn = () => {
    acceptedAt = performance.now();
  };
  requestAnimationFrame(() => requestAnimationFrame(drawn));
};

/** Whether a press belongs to the double tap that accepted the call, and must not end it. */
export const isDoubleTapOfAccept = ({ timeStamp }: Pick<Press, "timeStamp">): boolean =>
  timeStamp - acceptedAt < doubleTapMs;

const swallowedEvents = ["pointerdown", "mousedown", "click"] as const;

let stopSwallowing = () => {};

/** Swallows the second tap of a double tap, which is not meant for what the first one uncovered. */
export const swallowSecondTap = ({ timeStamp, clientX, clientY }: Press): void => {
  stopSwallowing();
  const swallow = (event: MouseEvent) => {
    const isSecond =
      event.timeStamp > timeStamp &&
      event.timeStamp - timeStamp < doubleTapMs &&
      Math.hypot(event.clientX - clientX, event.clientY - clientY) < sameSpotPx;
    // A click by keyboard has no position.
    if (!isSecond || (event.type === "click" && event.detail === 0)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  for (const kind of swallowedEvents) addEventListener(kind, swallow, { capture: true });
  const timer = setTimeout(() => stopSwallowing(), 2 * doubleTapMs); // also covers a tap that is delivered late
  stopSwallowing = () => {
    clearTimeout(timer);
    for (const kind of swallowedEvents) removeEventListener(kind, swallow, { capture: true });
    stopSwallowing = () => {};
  };
};
