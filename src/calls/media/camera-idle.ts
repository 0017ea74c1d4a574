const restAfterMs = 10_000;

/** A camera whose picture goes nowhere is let go after a while, its light too, until it is seen again. */
export class CameraRest {
  #heldBackSince: number | undefined;

  /** Whether it is to rest. `askedAt`: when its person last asked for it; times in milliseconds of one clock. */
  look(isHeldBack: boolean, askedAt: number, now: number): boolean {
    this.#heldBackSince = isHeldBack ? (this.#heldBackSince ?? now) : undefined;
    return this.#heldBackSince !== undefined && now - Math.max(this.#heldBackSince, askedAt) >= restAfterMs;
  }
}
