const tapMs = 300;
const cancelPx = 96;
const lockPx = 72;

/** Where a finger that holds the microphone has gone: up locks the recording, towards the trash gives it up. */
const pullOf = (dx: number, dy: number): "none" | "lock" | "cancel" => {
  if (-dy > lockPx && -dy > -dx) return "lock";
  return -dx > cancelPx ? "cancel" : "none";
};

/** Where and when a finger is, as a pointer event tells it. */
type Finger = { timeStamp: number; clientX: number; clientY: number };

/**
 * A finger that holds the microphone, by what its events say and not by what is drawn: a slow phone draws late, and
 * what was locked or given up by then must not be sent.
 */
export class Hold {
  readonly #from: Finger;
  /** Lifted: what is still being made ready for it is not wanted any more. */
  isOver = false;

  constructor({ timeStamp, clientX, clientY }: Finger) {
    this.#from = { timeStamp, clientX, clientY };
  }

  pull({ clientX, clientY }: Finger): "none" | "lock" | "cancel" {
    return pullOf(clientX - this.#from.clientX, clientY - this.#from.clientY);
  }

  /** What lifting it here and now asks for. A press so short was no holding. */
  lift(finger: Finger): "send" | "lock" | "cancel" | "tap" {
    if (finger.timeStamp - this.#from.timeStamp < tapMs) return "tap";
    const pull = this.pull(finger);
    return pull === "none" ? "send" : pull;
  }
}
