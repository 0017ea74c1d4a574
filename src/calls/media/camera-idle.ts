import type { MediaView } from "./media-session.ts";

const suspendAfterMs = 10_000;

/** A camera whose picture goes nowhere is let go after a while, its light too, until it is seen again. */
export class CameraIdleTimer {
  #unusedSince: number | undefined;

  /** Whether it is to rest. `askedAt`: when its person last asked for it; times in milliseconds of one clock. */
  shouldSuspend(isHeldBack: boolean, askedAt: number, now: number): boolean {
    this.#unusedSince = isHeldBack ? (this.#unusedSince ?? now) : undefined;
    return this.#unusedSince !== undefined && now - Math.max(this.#unusedSince, askedAt) >= suspendAfterMs;
  }
}

const hintMs = 8_000;

/**
 * A camera that was on and not seen, because of the other side or of the link, is seen again by itself: the person is
 * told so for a while.
 */
export class VideoRestoredHint {
  #wasUnseen = false;
  #until = 0;

  update(camera: MediaView["camera"], now: number): boolean {
    if (camera === "thin" || camera === "unwanted") {
      this.#wasUnseen = true;
      this.#until = 0;
    } else if (camera === "on") {
      if (this.#wasUnseen) this.#until = now + hintMs;
      this.#wasUnseen = false;
    } else if (camera !== "waiting") {
      this.#wasUnseen = false;
      this.#until = 0;
    }
    return now < this.#until;
  }
}
