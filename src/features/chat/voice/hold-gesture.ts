const tapMs = 300;
const cancelPx = 96;
const lockPx = 72;

/** Where a finger that holds the microphone has gone: up locks the recording, towards the trash gives it up. */
const toDragAction = (dx: number, dy: number): "none" | "lock" | "cancel" => {
  if (-dy > lockPx && -dy > -dx) return "lock";
  return -dx > cancelPx ? "cancel" : "none";
};

/** Where and when a finger is, as a pointer event tells it. */
type PointerSample = { timeStamp: number; clientX: number; clientY: number };

/**
 * A finger that holds the microphone, by what its events say and not by what is drawn: a slow phone draws late, and
 * what was locked or given up by then must not be sent.
 */
export class HoldGesture {
  readonly #start: PointerSample;
  /** Lifted: what is still being made ready for it is not wanted any more. */
  isReleased = false;

  constructor({ timeStamp, clientX, clientY }: PointerSample) {
    this.#start = { timeStamp, clientX, clientY };
  }

  getDragAction({ clientX, clientY }: PointerSample): "none" | "lock" | "cancel" {
    return toDragAction(clientX - this.#start.clientX, clientY - this.#start.clientY);
  }

  /** What lifting it here and now asks for. A press so short was no holding. */
  getReleaseAction(finger: PointerSample): "send" | "lock" | "cancel" | "tap" {
    if (finger.timeStamp - this.#start.timeStamp < tapMs) return "tap";
    const pull = this.getDragAction(finger);
    return pull === "none" ? "send" : pull;
  }
}
