import type { Platform } from "./platform";

const pacedMs = 10_000; // after the last refusal: the limit refills slowly, and whatever is sent beyond it is sent in vain

/** How fast messages go once the server said that they come too fast: none until the time it named, then one by one. */
export class Pacer {
  readonly #platform: Pick<Platform, "after" | "now">;
  readonly #go: () => void;
  #until = Number.NEGATIVE_INFINITY;
  #isWaiting = false;
  #cancel = () => {};

  /** `go` is called when the wait is over. */
  constructor(platform: Pick<Platform, "after" | "now">, go: () => void) {
    this.#platform = platform;
    this.#go = go;
  }

  /** Nothing may go now. */
  get isWaiting(): boolean {
    return this.#isWaiting;
  }

  /** What goes, goes one at a time. */
  get isOn(): boolean {
    return this.#isWaiting || this.#platform.now() < this.#until;
  }

  limited(retryAfterMs: number): void {
    this.#cancel();
    this.#until = this.#platform.now() + retryAfterMs + pacedMs;
    this.#isWaiting = true;
    this.#cancel = this.#platform.after(retryAfterMs, () => {
      this.#isWaiting = false;
      this.#go();
    });
  }

  stop(): void {
    this.#cancel();
  }
}
