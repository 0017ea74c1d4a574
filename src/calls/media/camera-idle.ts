import type { MediaView } from "./media-session.ts";

const suspendAfterMs = 10_000;

/** Decides when a camera whose video is not sent is released, so that its light goes out. */
export class CameraIdleTimer {
  #unusedSince: number | undefined;

  /**
   * Whether the camera should be suspended. `requestedAt`: when its person last asked for it. Times are milliseconds of
   * one clock.
   */
  shouldSuspend(isUnused: boolean, requestedAt: number, now: number): boolean {
    this.#unusedSince = isUnused ? (this.#unusedSince ?? now) : undefined;
    return this.#unusedSince !== undefined && now - Math.max(this.#unusedSince, requestedAt) >= suspendAfterMs;
  }
}

const hintMs = 8_000;

/**
 * Decides how long the person is told that their video is sent again, after the link or the other side had prevented
 * it.
 */
export class VideoRestoredHint {
  #wasUnseen = false;
  #until = 0;

  update(camera: MediaView["camera"], now: number): boolean {
    if (camera === "lowBandwidth" || camera === "unwanted") {
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
