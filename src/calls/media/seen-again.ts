import type { MediaView } from "./media-session.ts";

const toldMs = 8_000;

/**
 * A camera that was on and not seen, because of the other side or of the link, is seen again by itself: the person is
 * told so for a while.
 */
export class SeenAgain {
  #wasHeldBack = false;
  #until = 0;

  look(camera: MediaView["camera"], now: number): boolean {
    if (camera === "thin" || camera === "unwanted") {
      this.#wasHeldBack = true;
      this.#until = 0;
    } else if (camera === "on") {
      if (this.#wasHeldBack) this.#until = now + toldMs;
      this.#wasHeldBack = false;
    } else if (camera !== "waiting") {
      this.#wasHeldBack = false;
      this.#until = 0;
    }
    return now < this.#until;
  }
}
