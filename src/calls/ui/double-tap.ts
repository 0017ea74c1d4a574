const doubleTapMs = 700; // and a little more: fingers are slow on a screen that is being drawn
const sameSpotPx = 64; // two taps of one finger are not further apart

type Press = Pick<MouseEvent, "timeStamp" | "clientX" | "clientY">;

/** Of presses by hand only the time counts at which they were made: a busy phone tells of them late. */
let takenAt = Number.NEGATIVE_INFINITY;
let isEndAwaited = false;

/** A call was taken by this press. Its end will be in the place of its beginning. */
export const noteTaken = ({ timeStamp }: Pick<Press, "timeStamp">): void => {
  takenAt = timeStamp;
  isEndAwaited = true;
};

/** Its end stands there with the next picture: whoever pressed again because nothing had happened may just be doing so. */
export const noteEndShown = (): void => {
  if (!isEndAwaited) return;
  isEndAwaited = false;
  takenAt = Number.POSITIVE_INFINITY;
  const drawn = () => {
    takenAt = performance.now();
  };
  requestAnimationFrame(() => requestAnimationFrame(drawn));
};

/** Whether it belongs to the press that took the call: nobody ends what they have just begun. */
export const isOfTaking = ({ timeStamp }: Pick<Press, "timeStamp">): boolean => timeStamp - takenAt < doubleTapMs;

const kinds = ["pointerdown", "mousedown", "click"] as const;

let forget = () => {};

/** What this press made go uncovers something else: the second tap of a double tap is not meant for that. */
export const swallowSecondTap = ({ timeStamp, clientX, clientY }: Press): void => {
  forget();
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
  for (const kind of kinds) addEventListener(kind, swallow, { capture: true });
  const timer = setTimeout(() => forget(), 2 * doubleTapMs); // one that is told late counts too
  forget = () => {
    clearTimeout(timer);
    for (const kind of kinds) removeEventListener(kind, swallow, { capture: true });
    forget = () => {};
  };
};
