const doubleTapMs = 700; // and a little more: fingers are slow on a screen that is being drawn
const sameSpotPx = 64; // two taps of one finger are not further apart

type Press = Pick<MouseEvent, "timeStamp" | "clientX" | "clientY">;

/** Of presses by hand only the time counts at which they were made: a busy phone tells of them late. */
let acceptedAt = Number.NEGATIVE_INFINITY;
let isHangUpAwaited = false;

/** A call was taken by this press. Its end will be in the place of its beginning. */
export const recordAccept = ({ timeStamp }: Pick<Press, "timeStamp">): void => {
  acceptedAt = timeStamp;
  isHangUpAwaited = true;
};

/** Its end stands there with the next picture: whoever pressed again because nothing had happened may just be doing so. */
export const recordHangUpShown = (): void => {
  if (!isHangUpAwaited) return;
  isHangUpAwaited = false;
  acceptedAt = Number.POSITIVE_INFINITY;
  const drawn = () => {
    acceptedAt = performance.now();
  };
  requestAnimationFrame(() => requestAnimationFrame(drawn));
};

/** Whether it belongs to the press that took the call: nobody ends what they have just begun. */
export const isDoubleTapOfAccept = ({ timeStamp }: Pick<Press, "timeStamp">): boolean =>
  timeStamp - acceptedAt < doubleTapMs;

const swallowedEvents = ["pointerdown", "mousedown", "click"] as const;

let stopSwallowing = () => {};

/** What this press made go uncovers something else: the second tap of a double tap is not meant for that. */
export const swallowSecondTap = ({ timeStamp, clientX, clientY }: Press): void => {
  stopSwallowing();
  const swallow = (event: MouseEvent) => {
    const isSecond =
      event.timeStamp > timeStamp &&
      event.timeStamp - timeStamp < doubleTapMs &&
      Math.hypot(event.clientX - clientX, event.clientY - clientY) < sameSpotPx;
    // A key's click is at no place.
    if (!isSecond || (event.type === "click" && event.detail === 0)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  for (const kind of swallowedEvents) addEventListener(kind, swallow, { capture: true });
  const timer = setTimeout(() => stopSwallowing(), 2 * doubleTapMs); // one that is told late counts too
  stopSwallowing = () => {
    clearTimeout(timer);
    for (const kind of swallowedEvents) removeEventListener(kind, swallow, { capture: true });
    stopSwallowing = () => {};
  };
};
