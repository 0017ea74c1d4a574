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
