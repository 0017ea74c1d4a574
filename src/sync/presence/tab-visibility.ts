import type { Uuid } from "#contract/ids.ts";
import type { SocketSession } from "#sync/connection/socket-session.ts";
import type { Platform } from "#sync/platform/platform.ts";

const reportIntervalMs = 20_000;
const visibilityTtlMs = 45_000; // a tab that was killed says nothing more

/** One tab says whether it is looked at: when that changes, and again and again while it is. */
export class VisibilityReporter {
  readonly #platform: Platform;
  readonly #report: (isOn: boolean) => void;
  #isVisible = false;
  #cancel = () => {};
  #unsubscribe: (() => void)[] = [];

  constructor(platform: Platform, say: (isOn: boolean) => void) {
    this.#platform = platform;
    this.#report = say;
  }

  start(): void {
    this.#unsubscribe = [
      this.#platform.onWake(() => this.report()),
      this.#platform.onLeave(() => this.#setVisible(false)),
    ];
    this.report();
  }

  /** Whoever hears it may be another than before. */
  report(): void {
    this.#setVisible(this.#platform.isVisible());
  }

  stop(): void {
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    this.#setVisible(false);
  }

  #setVisible(isOn: boolean): void {
    this.#cancel();
    if (isOn) this.#cancel = this.#platform.startTimer(reportIntervalMs, () => this.report());
    if (isOn || this.#isVisible) this.#report(isOn);
    this.#isVisible = isOn;
  }
}

/** The leader's eye: whether the person looks at any tab of this browser. */
export class VisibilityTracker {
  readonly #platform: Platform;
  readonly #session: Pick<SocketSession, "sendVisibility" | "probe">;
  readonly #visibleTabs = new Map<Uuid, () => void>();

  constructor(platform: Platform, line: Pick<SocketSession, "sendVisibility" | "probe">) {
    this.#platform = platform;
    this.#session = line;
  }

  /** The server knows nothing of it yet. */
  handleWelcome(): void {
    if (this.#visibleTabs.size > 0) this.#session.sendVisibility(true);
  }

  setTabVisible(tab: Uuid, isOn: boolean): void {
    const wasLooked = this.#visibleTabs.size > 0;
    this.#visibleTabs.get(tab)?.();
    this.#visibleTabs.delete(tab);
    if (isOn)
      this.#visibleTabs.set(
        tab,
        this.#platform.startTimer(visibilityTtlMs, () => this.setTabVisible(tab, false)),
      );
    const isLooked = this.#visibleTabs.size > 0;
    if (isLooked !== wasLooked) this.#session.sendVisibility(isLooked);
    // The timers of a page in the background are slow: the server is to hear of this device all the same.
    if (isOn && !this.#platform.isVisible()) this.#session.probe();
  }

  stop(): void {
    for (const cancel of this.#visibleTabs.values()) cancel();
    this.#visibleTabs.clear();
  }
}
