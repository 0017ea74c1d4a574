const tapMs = 300;
const cancelPx = 96;
const lockPx = 72;

/** Action of a drag from the record button: up locks the recording, towards the trash cancels it. */
const toDragAction = (dx: number, dy: number): "none" | "lock" | "cancel" => {
  if (-dy > lockPx && -dy > -dx) return "lock";
  return -dx > cancelPx ? "cancel" : "none";
};

/** Time and position of a pointer event. */
type PointerSample = { timeStamp: number; clientX: number; clientY: number };

/**
 * Press-and-hold gesture on the record button. Evaluates pointer events instead of rendered state: a slow device
 * renders late, and a recording that was locked or cancelled by then must not be sent.
 */
export class HoldGesture {
  readonly #start: PointerSample;
  /** Set on release, so that a recorder that is still loading does not start. */
  isReleased = false;

  constructor({ timeStamp, clientX, clientY }: PointerSample) {
    this.#start = { timeStamp, clientX, clientY };
  }

  getDragAction({ clientX, clientY }: PointerSample): "none" | "lock" | "cancel" {
    return toDragAction(clientX - this.#start.clientX, clientY - this.#start.clientY);
  }

  /** Action of a release at this point. A press shorter than `tapMs` is a tap. */
  getReleaseAction(sample: PointerSample): "send" | "lock" | "cancel" | "tap" {
    if (sample.timeStamp - this.#start.timeStamp < tapMs) return "tap";
    const action = this.getDragAction(sample);
    return action === "none" ? "send" : action;
  }
}
