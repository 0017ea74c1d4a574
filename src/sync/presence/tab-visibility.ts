import type { Platform } from "#sync/platform/platform.ts";

const reportIntervalMs = 20_000;

/** Reports whether this tab is visible: at each change, and every `reportIntervalMs` while it is. */
export class VisibilityReporter {
  readonly #platform: Platform;
  readonly #report: (isVisible: boolean) => void;
  #isVisible = false;
  #cancel = () => {};
  #unsubscribe: (() => void)[] = [];

  constructor(platform: Platform, report: (isVisible: boolean) => void) {
    this.#platform = platform;
    this.#report = report;
  }

  start(): void {
    this.#unsubscribe = [
      this.#platform.onWake(() => this.report()),
      this.#platform.onLeave(() => this.#setVisible(false)),
    ];
    this.report();
  }

  /** Reports now, for example to a new leader. */
  report(): void {
    this.#setVisible(this.#platform.isVisible());
  }

  stop(): void {
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    this.#setVisible(false);
  }

  #setVisible(isVisible: boolean): void {
    this.#cancel();
    if (isVisible) this.#cancel = this.#platform.startTimer(reportIntervalMs, () => this.report());
    if (isVisible || this.#isVisible) this.#report(isVisible);
    this.#isVisible = isVisible;
  }
}
