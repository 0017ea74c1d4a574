import type { Uuid } from "#contract/ids.ts";
import type { Line } from "#sync/connection/socket-session.ts";
import type { Platform } from "#sync/platform/platform.ts";

const sayAgainMs = 20_000;
const lastsMs = 45_000; // a tab that was killed says nothing more

/** One tab says whether it is looked at: when that changes, and again and again while it is. */
export class Looking {
  readonly #platform: Platform;
  readonly #say: (isOn: boolean) => void;
  #isOn = false;
  #cancel = () => {};
  #unsubscribe: (() => void)[] = [];

  constructor(platform: Platform, say: (isOn: boolean) => void) {
    this.#platform = platform;
    this.#say = say;
  }

  start(): void {
    this.#unsubscribe = [this.#platform.onWake(() => this.again()), this.#platform.onLeave(() => this.#set(false))];
    this.again();
  }

  /** Whoever hears it may be another than before. */
  again(): void {
    this.#set(this.#platform.isVisible());
  }

  stop(): void {
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    this.#set(false);
  }

  #set(isOn: boolean): void {
    this.#cancel();
    if (isOn) this.#cancel = this.#platform.after(sayAgainMs, () => this.again());
    if (isOn || this.#isOn) this.#say(isOn);
    this.#isOn = isOn;
  }
}

/** The leader's eye: whether the person looks at any tab of this browser. */
export class Lookers {
  readonly #platform: Platform;
  readonly #line: Pick<Line, "sayLooked" | "probe">;
  readonly #ends = new Map<Uuid, () => void>();

  constructor(platform: Platform, line: Pick<Line, "sayLooked" | "probe">) {
    this.#platform = platform;
    this.#line = line;
  }

  /** The server knows nothing of it yet. */
  welcomed(): void {
    if (this.#ends.size > 0) this.#line.sayLooked(true);
  }

  hear(tab: Uuid, isOn: boolean): void {
    const wasLooked = this.#ends.size > 0;
    this.#ends.get(tab)?.();
    this.#ends.delete(tab);
    if (isOn)
      this.#ends.set(
        tab,
        this.#platform.after(lastsMs, () => this.hear(tab, false)),
      );
    const isLooked = this.#ends.size > 0;
    if (isLooked !== wasLooked) this.#line.sayLooked(isLooked);
    // The timers of a page in the background are slow: the server is to hear of this device all the same.
    if (isOn && !this.#platform.isVisible()) this.#line.probe();
  }

  stop(): void {
    for (const cancel of this.#ends.values()) cancel();
    this.#ends.clear();
  }
}
