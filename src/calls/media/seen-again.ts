import type { MediaView } from "./media-session.ts";

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
